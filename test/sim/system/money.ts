import type { Cast } from './cast.ts'
import type { House } from './house.ts'
import { TRON } from './outside.ts'
import type { Step } from './plan.ts'

const CHAIN = TRON.chain
const HOLDS = ['REVIEW', 'MANUAL', 'VERIFY', 'FVERIFY', 'DMOVE', 'LOCKED'] as const
const NEWEST = 12
const at = <T>(items: readonly T[], n: number): T | undefined => items[n % Math.max(1, items.length)]

interface Row {
  readonly id: number
  readonly user_id: number
  readonly push_uid: number
  readonly receive_uid: number
}
/** Money of strays on its way in, out and over, on a chain of their own, with operators and a chain that spoil it. */
export class StrayMoney {
  private readonly house: House
  private readonly cast: Cast
  constructor(house: House, cast: Cast) {
    this.house = house
    this.cast = cast
  }
  /** Long enough for operators to look at what is to be sent. */
  async begin(): Promise<void> {
    await this.house.ok('PATCH', `/chains/${CHAIN}`, { auto_mine_seconds: 0, send_delay_seconds: 20 })
  }
  async act({ n, who }: Step): Promise<string> {
    const [name, act] = at(this.acts, n[0]!)!
    const label = await act(n, who)
    return `${name} ${label === '' ? 'ok' : label}`
  }
  private stray(n: number) {
    return at(this.cast.strays, n)!
  }
  /** The newest of a table that are strays'. */
  private newest(rows: Iterable<unknown>): Row[] {
    const strays = new Set(this.cast.strays.map(({ user }) => user))
    return [...(rows as Iterable<Row>)]
      .filter(({ user_id, push_uid }) => strays.has(user_id) || strays.has(push_uid))
      .slice(-NEWEST)
  }
  private async operate(path: string, body: unknown): Promise<string> {
    return (await this.house.operate('POST', path, body)).label
  }
  private readonly acts: readonly (readonly [
    string,
    (n: readonly number[], who: number) => Promise<string>,
  ])[] = [
    [
      'withdraw',
      async (n, who) => {
        const body = {
          ...TRON,
          amount: String(5 + (n[1]! % 400)),
        }
        return (
          await this.house.call(this.stray(who).credential, { method: 'POST', path: '/withdrawals', body })
        ).label
      },
    ],
    ['decide', (n) => this.decide(n)],
    ['decide', (n) => this.decide(n)],
    ['decide', (n) => this.decide(n)],
    [
      'take back',
      async (n) => {
        const row = at(this.newest(this.house.state.wallet.withdrawals.table.values()), n[1]!)
        if (row === undefined) return 'nothing'
        const { credential } = this.cast.strays.find(({ user }) => user === row.user_id)!
        return (await this.house.call(credential, { method: 'DELETE', path: `/withdrawals/w${row.id}` }))
          .label
      },
    ],
    [
      'pay in',
      async (n, who) =>
        (
          await this.house.operate('POST', `/chains/${CHAIN}/deposits`, {
            user_id: this.stray(who).user,
            currency: n[2]! % 2 === 0 ? 'TRX' : 'USDT',
            amount: String(1 + (n[1]! % 500)),
          })
        ).label,
    ],
    [
      'judge a deposit',
      async (n) => {
        const row = at(this.newest(this.house.state.wallet.deposits.table.values()), n[1]!)
        if (row === undefined) return 'nothing'
        const verb = at(['hold', 'release', 'block', 'release', 'refund', 'reject_refund'], n[2]!)!
        const body = {
          reason: 'sim',
          ...(verb === 'refund' && { address: TRON.address }),
        }
        return this.operate(`/deposits/d${row.id}/${verb}`, body)
      },
    ],
    [
      'mine',
      (n) => this.operate(`/chains/${CHAIN}/mine`, { blocks: 1 + (n[1]! % (n[2]! % 4 === 0 ? 30 : 3)) }),
    ],
    ['mine', (n) => this.operate(`/chains/${CHAIN}/mine`, { blocks: 1 + (n[1]! % 3) })],
    [
      'reorganise',
      (n) => {
        const txs = this.house.state.sim.txsOf(CHAIN).slice(-NEWEST)
        const drop = n[2]! % 2 === 0 || txs.length === 0 ? [] : [at(txs, n[3]!)!.txid]
        return this.operate(`/chains/${CHAIN}/reorg`, { depth: 1 + (n[1]! % 8), drop })
      },
    ],
    [
      'spoil a transaction',
      async (n) => {
        const tx = at(this.house.state.sim.txsOf(CHAIN).slice(-NEWEST), n[1]!)
        if (tx === undefined) return 'nothing'
        const state = at(['pending', 'stuck', 'lost', 'failed'], n[2]!)!
        return (await this.house.operate('PATCH', `/chains/${CHAIN}/transactions/${tx.txid}`, { state }))
          .label
      },
    ],
    [
      'push answered',
      async (n) => {
        const row = at(this.newest(this.house.state.wallet.pushes.values()), n[1]!)
        if (row === undefined) return 'nothing'
        return this.operate(`/push/${row.id}/${at(['accept', 'refuse', 'cancel'], n[2]!)!}`, {})
      },
    ],
    [
      'pushes by hand',
      async (n, who) =>
        (
          await this.house.operate('PATCH', `/users/${this.stray(who).user}`, {
            push_acceptance: at(['auto', 'manual', 'manual'], n[1]!),
          })
        ).label,
    ],
  ]
  private decide(n: readonly number[]): Promise<string> {
    const row = at(this.newest(this.house.state.wallet.withdrawals.table.values()), n[1]!)
    if (row === undefined) return Promise.resolve('nothing')
    const verb = at(['approve', 'divert', 'divert', 'divert', 'fail', 'retry', 'reject'], n[2]!)!
    const status = n[3]! % 8 === 0 ? 'INVALID' : at(HOLDS, n[4]!)
    return this.operate(`/withdrawals/w${row.id}/${verb}`, {
      reason: 'sim',
      ...(verb === 'divert' && { status }),
    })
  }
}
