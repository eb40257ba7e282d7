import type { ReactNode } from 'react'
import { usePlatform } from '../../api/query.ts'
import { useTitle } from '../../parts/Page.tsx'

/** The box in the middle of the screen for whoever is not in yet. */
export function Box({
  title,
  children,
}: {
  readonly title: string
  readonly children: ReactNode
}): React.JSX.Element {
  const platform = usePlatform()
  useTitle(title)
  return (
    <main className="center-page">
      <div className="card">
        <div className="card-head">
          <h1 className="sign-title">{title}</h1>
          {platform?.mode === 'sandbox' ? <span className="badge-sandbox">Sandbox</span> : null}
        </div>
        <div className="card-body stack">{children}</div>
      </div>
    </main>
  )
}
