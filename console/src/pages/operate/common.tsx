import './operate.css'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useSession } from '../../api/query.ts'

export type Role = 'viewer' | 'operator' | 'admin'
const RANK: Readonly<Record<string, number>> = { viewer: 0, operator: 1, admin: 2 }
/** Why the operator who is signed in may not; undefined: may. */
export function useMay(role: Role): string | undefined {
  const operator = useSession()?.operator
  if (operator === undefined || operator === null) return 'No operator is signed in.'
  return (RANK[operator.role] ?? -1) >= RANK[role]! ? undefined : `This takes the role ${role}.`
}
export const useOperatorName = (): string => useSession()?.operator?.name ?? ''

/** An address to be compared with another by eye: groups of four. */
export const groups = (address: string): string => address.match(/.{1,4}/g)?.join(' ') ?? address

export function Json({ of }: { readonly of: unknown }): React.JSX.Element {
  return <pre className="json">{JSON.stringify(of, null, 2)}</pre>
}
export function UserLink({ id }: { readonly id: number }): React.JSX.Element {
  return id === 0 ? (
    <span className="dim">platform</span>
  ) : (
    <Link to="/operate/users/$uid" params={{ uid: String(id) }}>
      {id}
    </Link>
  )
}
/** A word that says well or not, never by colour alone. */
export function Verdict({
  well,
  children,
}: {
  readonly well: boolean
  readonly children: ReactNode
}): React.JSX.Element {
  return (
    <span className={well ? 'good' : 'bad'}>
      {well ? '✓ ' : '✗ '}
      {children}
    </span>
  )
}
/** Whose page it is. */
export interface Of {
  readonly uid: number
}
