import '../operate/operate.css'
import './lab.css'
import type { ReactNode } from 'react'
import { useSession } from '../../api/query.ts'
import { Card } from '../../parts/Page.tsx'
import { Empty } from '../../parts/states.tsx'

/** What steers the sandbox is the operator's: without one who is signed in it is said where to find the link. */
export function WithOperator({ children }: { readonly children: ReactNode }): ReactNode {
  const session = useSession()
  if (session?.operator !== null) return children
  return (
    <Card>
      <Empty>
        <b>This steers the sandbox, which is the operator's.</b>
        <br />
        Open the operator's link that the start printed, or make one:{' '}
        <code>npx kontor console-link operator</code>. Both rooms are open in this browser then.
      </Empty>
    </Card>
  )
}
