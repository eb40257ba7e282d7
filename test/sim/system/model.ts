import { Label, ReferenceMarket, type RefNew, type RefOrder } from '../../spot/reference.ts'

/** Amounts at 18 decimals. */
export const ONE = 10n ** 18n
export const text = (amount: bigint): string => {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(19, '0')
  const fraction = digits.slice(-18).replace(/0+$/, '')
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -18)}${fraction === '' ? '' : `.${fraction}`}`
}
export const amount = (decimal: string): bigint => {
  const [whole = '0', fraction = ''] = decimal.replace('-', '').split('.')
  const value = BigInt(whole + fraction.padEnd(18, '0'))
  return decimal.startsWith('-') ? -value : value
}

interface Coming {
  readonly user: number
  readonly currency: string
  readonly amount: bigint
  blocks: number
}
/**
 * The rules of wallet and spot a second time, as plainly as can be: maps and lists, nothing shared with the platform. It
 * is asked before the platform what the answer will be: '' or a label.
 */
export class Model {
  readonly market = new ReferenceMarket()
  /** Of contract accounts. */
  private readonly futures = new Map<number, bigint>()
  private readonly used = new Set<string>()
  private readonly coming: Coming[] = []
  /** What each has asked to withdraw. */
  readonly gone = new Map<number, bigint>()
  /** Whose money may be another than when it was last asked. */
  touched(): number[] {
    const { moved } = this.market
    const users = [...moved]
    moved.clear()
    return users
  }

  spot(user: number, currency: string): bigint {
    return this.market.money(user, currency)
  }
  futuresOf(user: number): bigint {
    return this.futures.get(user) ?? 0n
  }
  give(user: number, currency: string, more: bigint): void {
    this.market.moved.add(user)
    this.market.free.set(`${user}${currency}`, this.spot(user, currency) + more)
  }
  transfer(user: number, way: 'in' | 'out', sum: bigint): string {
    if (way === 'in' ? this.spot(user, 'USDT') < sum : this.futuresOf(user) < sum)
      return way === 'in' ? 'BALANCE_NOT_ENOUGH' : 'FUTURES_BALANCE_NOT_ENOUGH'
    const signed = way === 'in' ? sum : -sum
    this.give(user, 'USDT', -signed)
    this.futures.set(user, this.futuresOf(user) + signed)
    return ''
  }
  /** Between a main account and its sub-account; an id passes once. */
  between(from: number, to: number, currency: string, sum: bigint, id?: string): string {
    if (id !== undefined && this.used.has(id)) return 'DUPLICATE_REQUEST'
    if (this.spot(from, currency) < sum) return 'BALANCE_NOT_ENOUGH'
    if (id !== undefined) this.used.add(id)
    this.give(from, currency, -sum)
    this.give(to, currency, sum)
    return ''
  }
  withdraw(user: number, currency: string, sum: bigint, id?: string): string {
    const name = id === undefined ? undefined : `${user} ${id}`
    if (name !== undefined && this.used.has(name)) return 'DUPLICATE_REQUEST'
    if (this.spot(user, currency) < sum) return 'BALANCE_NOT_ENOUGH'
    if (name !== undefined) this.used.add(name)
    this.give(user, currency, -sum)
    this.gone.set(user, (this.gone.get(user) ?? 0n) + sum)
    return ''
  }
  deposit(user: number, currency: string, sum: bigint, confirmations: number): void {
    this.coming.push({ user, currency, amount: sum, blocks: confirmations })
  }
  /** Blocks of the chain that deposits come by. */
  mine(blocks: number): void {
    for (const one of this.coming.splice(0)) {
      one.blocks -= blocks
      if (one.blocks > 0) this.coming.push(one)
      else this.give(one.user, one.currency, one.amount)
    }
  }

  place(input: RefNew): { order?: RefOrder; label: string } {
    return this.tried(() => this.market.place(input))
  }
  amend(order: RefOrder, size: bigint, price: bigint): { label: string } {
    return this.tried(() => this.market.amend(order, size, price))
  }
  cancel(order: RefOrder): { label: string } {
    return this.tried(() => this.market.cancel(order))
  }
  private tried<T>(act: () => T): { order?: T; label: string } {
    try {
      const order = act()
      this.market.forgetFinished()
      this.market.fills.length = 0
      return { order, label: '' }
    } catch (error) {
      if (error instanceof Label) return { label: error.message }
      throw error
    }
  }
}
