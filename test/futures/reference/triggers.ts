import { refuse, type Contract, type PriceType, type World } from './world.ts'

/** What all that waits for a price has in common. */

export interface Path {
  readonly user: number
  readonly account: string
}
/** Of all kinds together. */
const MOST = 200

export function priceNow(w: World, c: Contract, type: PriceType): bigint | undefined {
  const { last, mark, index } = w.priceOf(c.id)
  return type === 'last' ? last : type === 'mark' ? mark : index
}
export function readTrigger(c: Contract, price: bigint): bigint {
  if (price === 0n) refuse('INVALID_PARAM_VALUE')
  if (price % c.tick !== 0n && price % c.markTick !== 0n) refuse('INVALID_PRECISION')
  return price
}
/** What has been reached already is no trigger. */
export function checkAhead(trigger: bigint, above: boolean, now: bigint | undefined): void {
  if (now === undefined) return
  if (above && trigger <= now) refuse('AUTO_TRIGGER_PRICE_GREATE_LAST')
  if (!above && trigger >= now) refuse('AUTO_TRIGGER_PRICE_LESS_LAST')
}
export function checkRoom(w: World, { user, account }: Path, count = 1): void {
  if (w.waitCount(user, account) + count > MOST) refuse('TOO_MANY_ORDERS')
}
