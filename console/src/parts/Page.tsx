import type { ReactNode } from 'react'
import { useEffect } from 'react'

interface PageProps {
  readonly title: string
  readonly lead?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}
export function Page({ title, lead, actions, children }: PageProps): React.JSX.Element {
  useTitle(title)
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1>{title}</h1>
          {lead === undefined ? null : <p>{lead}</p>}
        </div>
        {actions === undefined ? null : <div className="row">{actions}</div>}
      </header>
      <div className="stack">{children}</div>
    </div>
  )
}
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Kontor`
  }, [title])
}
interface CardProps {
  readonly title?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  /** Without room around: tables. */
  readonly flush?: boolean
  readonly label?: string
}
export function Card({ title, actions, children, flush = false, label }: CardProps): React.JSX.Element {
  return (
    <section className="card" aria-label={label ?? (typeof title === 'string' ? title : undefined)}>
      {title === undefined && actions === undefined ? null : (
        <div className="card-head">
          <h2>{title}</h2>
          {actions === undefined ? null : <div className="row">{actions}</div>}
        </div>
      )}
      {flush ? children : <div className="card-body">{children}</div>}
    </section>
  )
}
export function Facts({
  of,
}: {
  readonly of: readonly (readonly [ReactNode, ReactNode] | false | undefined)[]
}): React.JSX.Element {
  return (
    <dl className="facts">
      {of.map((pair, i) =>
        pair === false || pair === undefined ? null : <FactPair key={i} name={pair[0]} value={pair[1]} />,
      )}
    </dl>
  )
}
function FactPair({
  name,
  value,
}: {
  readonly name: ReactNode
  readonly value: ReactNode
}): React.JSX.Element {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  )
}
