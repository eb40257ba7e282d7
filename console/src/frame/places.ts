import type { IconName } from '../parts/icons.tsx'

/** Where one can go: navigation, command bar and keys are made from this list. */
export interface Place {
  readonly to: string
  readonly name: string
  readonly room: 'account' | 'lab' | 'operator'
  /** Below the place before it. */
  readonly below?: boolean
  /** After `g`. */
  readonly key?: string
  readonly icon?: IconName
  /** More words to find it by. */
  readonly words?: string
}
export const PLACES: readonly Place[] = [
  {
    to: '/trade',
    name: 'Trade',
    room: 'account',
    key: 't',
    icon: 'trade',
    words: 'chart order book buy sell spot market',
  },
  {
    to: '/futures',
    name: 'Futures',
    room: 'account',
    key: 'o',
    icon: 'futures',
    words: 'contracts perpetual delivery position leverage margin long short funding',
  },
  {
    to: '/wallet',
    name: 'Wallet',
    room: 'account',
    key: 'w',
    icon: 'wallet',
    words: 'overview balance total worth',
  },
  {
    to: '/wallet/deposit',
    name: 'Deposit',
    room: 'account',
    below: true,
    key: 'd',
    words: 'address qr receive',
  },
  {
    to: '/wallet/withdraw',
    name: 'Withdraw',
    room: 'account',
    below: true,
    key: 'x',
    words: 'send address book pay out',
  },
  {
    to: '/wallet/transfers',
    name: 'Transfers',
    room: 'account',
    below: true,
    key: 'f',
    words: 'move margin sub-account',
  },
  { to: '/wallet/push', name: 'Push', room: 'account', below: true, key: 'p', words: 'uid send pay' },
  {
    to: '/wallet/ledger',
    name: 'Ledger',
    room: 'account',
    below: true,
    key: 'l',
    words: 'account book history csv',
  },
  {
    to: '/unified',
    name: 'Unified',
    room: 'account',
    key: 'u',
    icon: 'unified',
    words: 'margin loan borrow repay',
  },
  { to: '/sub-accounts', name: 'Sub-accounts', room: 'account', key: 's' },
  { to: '/keys', name: 'API keys', room: 'account', key: 'k', words: 'secret permission' },
  {
    to: '/settings',
    name: 'Settings',
    room: 'account',
    key: ',',
    words: 'password factor sessions theme colours',
  },
  {
    to: '/lab/requests',
    name: 'Requests',
    room: 'lab',
    key: 'r',
    icon: 'lab',
    words: 'inspector log signature curl ccxt har',
  },
  {
    to: '/lab/sockets',
    name: 'Sockets and limits',
    room: 'lab',
    words: 'websocket rate limit windows gauges',
  },
  { to: '/lab/clock', name: 'Clock', room: 'lab', key: 'c', words: 'time move advance due reset' },
  { to: '/lab/faults', name: 'Faults', room: 'lab', words: 'error delay drop duplicate report' },
  { to: '/lab/chains', name: 'Chains', room: 'lab', words: 'mine reorganise faucet deposit block' },
  { to: '/lab/markets', name: 'Markets', room: 'lab', words: 'agents crash gap thin book scenario' },
  { to: '/lab/try', name: 'Try it', room: 'lab', words: 'reference endpoint call sign' },
  {
    to: '/operate/approvals',
    name: 'Approvals',
    room: 'operator',
    key: 'a',
    icon: 'operate',
    words: 'withdrawals proposals review approve',
  },
  { to: '/operate/deposits', name: 'Deposits', room: 'operator', words: 'review refund block' },
  { to: '/operate/treasury', name: 'Treasury', room: 'operator', words: 'fees pay out hot wallet top up' },
  { to: '/operate/users', name: 'Users', room: 'operator', words: 'accounts freeze statement export' },
  {
    to: '/operate/rules',
    name: 'Rules',
    room: 'operator',
    words: 'currencies chains markets prices policy dry run halt',
  },
  {
    to: '/operate/solvency',
    name: 'Solvency',
    room: 'operator',
    words: 'proof reserves conservation liabilities',
  },
  { to: '/operate/lending', name: 'Lending', room: 'operator', words: 'insurance fund pool liquidation' },
  { to: '/operate/audit', name: 'Audit log', room: 'operator', words: 'who did what' },
  {
    to: '/operate/health',
    name: 'Health',
    room: 'operator',
    key: 'h',
    words: 'metrics lag memory sockets due',
  },
]
