import type { Desk } from '../api/endpoint.ts'
import { PLATFORM } from '../core/ledger/accounts.ts'
import type { State } from '../core/state.ts'
import { netOf } from '../core/withdrawals/send.ts'
import { format, parseAmount, type Amount } from '../money/amount.ts'

/** One currency on one chain: what the ledger says, and what the chain says. */
export interface Reserve {
  readonly chain: string
  readonly currency: string
  /** The ledger's custody account. */
  readonly custody: string
  /** In blocks, but not deep enough to be booked: deposits above zero, payments and their fees below. */
  readonly unbooked: string
  /** null: the chain did not answer. */
  readonly on_chain: string | null
  /** on_chain less custody and unbooked; "0" is as it should be. */
  readonly difference: string | null
  readonly error: string
}

/** currency → amount. */
type Sums = Map<string, bigint>
const addTo = (sums: Sums, currency: string, amount: bigint): void => {
  sums.set(currency, (sums.get(currency) ?? 0n) + amount)
}
/** What blocks hold already that the books will follow when it is deep enough. */
function unbookedOn({ wallet, world }: State, chain: string): Sums {
  const sums: Sums = new Map()
  for (const { currency, amount, height, booked } of wallet.deposits.tracked(chain))
    if (height !== null && booked === 'none') addTo(sums, currency, amount)
  for (const withdrawal of wallet.withdrawals.unsettled(chain)) {
    if (withdrawal.status !== 'EXTPEND' || withdrawal.block_number === 0) continue
    // One that failed in its block moved nothing, but cost its fee.
    if (withdrawal.fail_reason === '') addTo(sums, withdrawal.currency, -netOf(withdrawal))
    addTo(sums, world.mustChain(chain).native, -withdrawal.network_fee)
  }
  for (const { status, block_number, network_fee } of wallet.sweeps.unsettled(chain))
    if (status === 'SENT' && block_number > 0) addTo(sums, world.mustChain(chain).native, -network_fee)
  return sums
}
function custodyOf({ ledger }: State, chain: string): Sums {
  const sums: Sums = new Map()
  for (const { currency, amount } of ledger.named(PLATFORM, `custody:${chain}`))
    addTo(sums, currency, -amount)
  return sums
}

/**
 * Books and chain must be of one block: when a new one came between the question and the answer, and once more where
 * they differ (a node may be in the middle of a block), it is asked again.
 */
async function reservesOf(desk: Desk, chain: string): Promise<Reserve[]> {
  const tipOf = (): Promise<string | undefined> =>
    desk.core.read(({ wallet }) => wallet.tips.get(chain)?.hash)
  for (let tries = 1; ; tries++) {
    const tip = await tipOf()
    const list = await compare(desk, chain)
    const silent = list.some(({ error }) => error !== '')
    const steady =
      tip === (await tipOf()) && (tries > 1 || list.every(({ difference }) => difference === '0'))
    if (silent || steady || tries === TRIES_MAX) return list
  }
}
const TRIES_MAX = 4
async function compare(desk: Desk, chain: string): Promise<Reserve[]> {
  let held: Readonly<Record<string, string>> | undefined
  let error = ''
  try {
    held = await desk.chains.port(chain).holdings()
  } catch (cause) {
    error = `the chain did not answer: ${(cause as Error).message.split('\n', 1)[0]!}`
  }
  // The books are read in the turn in which the answer came.
  const { custody, unbooked } = await desk.core.read((state) => ({
    custody: custodyOf(state, chain),
    unbooked: unbookedOn(state, chain),
  }))
  const currencies = new Set([...custody.keys(), ...unbooked.keys(), ...Object.keys(held ?? {})])
  return [...currencies].sort().map((currency) => {
    const books = (custody.get(currency) ?? 0n) as Amount
    const waiting = (unbooked.get(currency) ?? 0n) as Amount
    const onChain = held === undefined ? undefined : parseAmount(held[currency] ?? '0')!
    return {
      chain,
      currency,
      custody: format(books),
      unbooked: format(waiting),
      on_chain: onChain === undefined ? null : format(onChain),
      difference: onChain === undefined ? null : format((onChain - books - waiting) as Amount),
      error,
    }
  })
}
/** Every chain is asked; one that is silent is told as such and hides nothing of the others. */
export async function reserves(desk: Desk): Promise<Reserve[]> {
  const chains = await desk.core.read(({ world }) => world.allChains.map(({ chain }) => chain).sort())
  return (await Promise.all(chains.map((chain) => reservesOf(desk, chain)))).flat()
}
