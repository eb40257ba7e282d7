import {
  Navigate,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router'
import { useSession } from './api/query.ts'
import { Frame } from './frame/Frame.tsx'
import { PLACES } from './frame/places.ts'
import { prefs } from './lib/prefs.ts'
import { Empty, Failed, Loading } from './parts/states.tsx'

/**
 * Every route, each with its own piece of code. To add a page: a file below pages/, a line here, and a line in
 * frame/places.ts. See docs/console.md.
 */
const root = createRootRoute({
  notFoundComponent: () => (
    <Empty action={<a href="/">Go to the first page</a>}>There is no such page.</Empty>
  ),
})
const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Frame })

interface Then {
  readonly then?: string
}
const then = (search: Record<string, unknown>): Then =>
  typeof search['then'] === 'string' && /^\/[a-z-]/.test(search['then']) ? { then: search['then'] } : {}

const outside = [
  createRoute({
    getParentRoute: () => root,
    path: '/sign-in',
    validateSearch: then,
    component: lazyRouteComponent(() => import('./pages/sign/SignIn.tsx'), 'SignIn'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/sign-up',
    component: lazyRouteComponent(() => import('./pages/sign/SignUp.tsx'), 'SignUp'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/enter',
    component: lazyRouteComponent(() => import('./pages/sign/Enter.tsx'), 'Enter'),
  }),
]

/** The first page of whoever is signed in. */
function Home(): React.JSX.Element {
  const session = useSession()
  // An operator alone begins in the operator's room.
  const first = PLACES.find(({ room }) => room === 'operator')
  if (session?.account === null && first !== undefined) return <Navigate to={first.to as '/'} replace />
  return <Navigate to="/trade/$pair" params={{ pair: prefs().market }} replace />
}
/** The contract that was looked at last. */
const FirstContract = (): React.JSX.Element => (
  <Navigate to="/futures/$contract" params={{ contract: prefs().contract }} replace />
)
interface Chosen {
  readonly currency?: string
}
const chosen = ({ currency }: Record<string, unknown>): Chosen =>
  typeof currency === 'string' ? { currency } : {}
const page = <P extends string>(path: P, load: () => Promise<Record<string, unknown>>, name: string) =>
  createRoute({
    getParentRoute: () => frame,
    path,
    validateSearch: chosen,
    component: lazyRouteComponent(load as () => Promise<Record<string, () => React.JSX.Element>>, name),
  })
const pages = [
  createRoute({ getParentRoute: () => frame, path: '/', component: Home }),
  createRoute({ getParentRoute: () => frame, path: '/trade', component: Home }),
  page('/trade/$pair', () => import('./pages/trade/Trade.tsx'), 'Trade'),
  createRoute({ getParentRoute: () => frame, path: '/futures', component: FirstContract }),
  page('/futures/$contract', () => import('./pages/futures/Futures.tsx'), 'Futures'),
  page('/wallet', () => import('./pages/wallet/Overview.tsx'), 'Overview'),
  page('/wallet/deposit', () => import('./pages/wallet/Deposit.tsx'), 'Deposit'),
  page('/wallet/withdraw', () => import('./pages/wallet/Withdraw.tsx'), 'Withdraw'),
  page('/wallet/transfers', () => import('./pages/wallet/Transfers.tsx'), 'Transfers'),
  page('/wallet/push', () => import('./pages/wallet/Push.tsx'), 'Push'),
  page('/wallet/ledger', () => import('./pages/wallet/Ledger.tsx'), 'Ledger'),
  page('/unified', () => import('./pages/account/Unified.tsx'), 'Unified'),
  page('/sub-accounts', () => import('./pages/account/SubAccounts.tsx'), 'SubAccounts'),
  page('/keys', () => import('./pages/account/Keys.tsx'), 'Keys'),
  page('/settings', () => import('./pages/account/Settings.tsx'), 'Settings'),
  page('/lab/requests', () => import('./pages/lab/Requests.tsx'), 'Requests'),
  page('/lab/sockets', () => import('./pages/lab/Sockets.tsx'), 'Sockets'),
  page('/lab/clock', () => import('./pages/lab/Clock.tsx'), 'Clock'),
  page('/lab/faults', () => import('./pages/lab/Faults.tsx'), 'Faults'),
  page('/lab/chains', () => import('./pages/lab/Chains.tsx'), 'Chains'),
  page('/lab/markets', () => import('./pages/lab/Markets.tsx'), 'Markets'),
  page('/lab/try', () => import('./pages/lab/TryIt.tsx'), 'TryIt'),
  page('/operate/approvals', () => import('./pages/operate/Approvals.tsx'), 'Approvals'),
  page('/operate/deposits', () => import('./pages/operate/Deposits.tsx'), 'Deposits'),
  page('/operate/treasury', () => import('./pages/operate/Treasury.tsx'), 'Treasury'),
  page('/operate/users', () => import('./pages/operate/Users.tsx'), 'Users'),
  page('/operate/users/$uid', () => import('./pages/operate/User.tsx'), 'User'),
  page('/operate/rules', () => import('./pages/operate/Rules.tsx'), 'Rules'),
  page('/operate/solvency', () => import('./pages/operate/Solvency.tsx'), 'Solvency'),
  page('/operate/lending', () => import('./pages/operate/Lending.tsx'), 'Lending'),
  page('/operate/audit', () => import('./pages/operate/Audit.tsx'), 'Audit'),
  page('/operate/health', () => import('./pages/operate/Health.tsx'), 'Health'),
]

export const router = createRouter({
  routeTree: root.addChildren([...outside, frame.addChildren(pages)]),
  defaultPreload: 'intent',
  defaultPendingMs: 150,
  defaultPendingComponent: () => <Loading rows={8} height={28} />,
  defaultErrorComponent: ({ error, reset }) => <Failed error={error} retry={reset} />,
})
declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
