import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import type { Intent } from '../../core/tables/withdrawals.ts'
import type { Signer, UnsignedTransaction } from './signer.ts'
import type { Token } from './tokens.ts'

/** What is kept in an intent's `raw`, as text: JSON has no bigint. */
interface Kept {
  /** Left out: the hot wallet. */
  readonly from?: string
  readonly nonce: number
  readonly to: string
  readonly value: string
  readonly data: string
  readonly gas: string
  readonly max_fee: string
  readonly priority_fee: string
  readonly signed: string
}
export const keptOf = (intent: Intent): Kept => intent.raw as unknown as Kept

export interface TransferCall {
  readonly to: Hex
  readonly value: bigint
  readonly data: Hex
}
/** Coins, or a token's `transfer`. */
export const transferCall = (token: Token | undefined, to: Hex, units: bigint): TransferCall =>
  token === undefined
    ? { to, value: units, data: '0x' }
    : {
        to: token.contract,
        value: 0n,
        data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, units] }),
      }

export async function signIntent(signer: Signer, transaction: UnsignedTransaction): Promise<Intent> {
  const { txid, signed } = await signer.sign(transaction)
  const { nonce, to, value, data, gas, maxFeePerGas, maxPriorityFeePerGas } = transaction
  const raw: Kept = {
    from: signer.address,
    nonce,
    to,
    value: String(value),
    data,
    gas: String(gas),
    max_fee: String(maxFeePerGas),
    priority_fee: String(maxPriorityFeePerGas),
    signed,
  }
  return { txid, raw: { ...raw } }
}
