import type { Amount } from '../money/amount.ts'

/** Kinds of account as the total balance names them. */
export const KINDS = [
  'cross_margin',
  'spot',
  'finance',
  'margin',
  'quant',
  'futures',
  'delivery',
  'warrant',
  'cbbc',
  'meme_box',
  'options',
  'payment',
] as const
export type Kind = (typeof KINDS)[number]

/** What an account holds and owes, by kind. */
export interface Worth {
  readonly amounts: ReadonlyMap<Kind, Amount>
  readonly borrowed: ReadonlyMap<Kind, Amount>
  /** Of contracts; the amounts count it. */
  readonly unrealised: ReadonlyMap<Kind, Amount>
}
/** Made within the last minute, by the platform's clock. */
export interface Valuation {
  readonly at: number
  readonly worth: Worth
}
