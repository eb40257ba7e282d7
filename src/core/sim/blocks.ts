import { base58, BITCOIN_ALPHABET, sha256 } from '../chains/encodings.ts'
import type { AddressFormat } from '../tables/world/chains.ts'
import type { SimChain } from '../tables/sim.ts'

export const heightAt = ({ base, since, seconds }: SimChain, at: number): number =>
  seconds === 0 ? base : base + Math.max(0, Math.floor((at - since) / (seconds * 1e6)))
/** When a block comes; undefined when only a hand makes it. */
export const timeOf = ({ base, since, seconds }: SimChain, height: number): number | undefined =>
  seconds === 0 ? undefined : since + (height - base) * seconds * 1e6

export function blockHash({ chain, forks }: SimChain, height: number): string {
  const salt = forks.findLast(([from]) => from <= height)?.[1] ?? 0
  return sha256(`kontor block ${chain} ${height} ${salt}`).toString('hex')
}
/** A transaction id in the manner of the chain. */
export function simTxid(format: AddressFormat, seed: string): string {
  const hash = sha256(seed)
  switch (format) {
    case 'evm':
      return `0x${hash.toString('hex')}`
    case 'ripple':
      return hash.toString('hex').toUpperCase()
    case 'solana':
      return base58(Buffer.concat([hash, sha256(hash)]), BITCOIN_ALPHABET)
    case 'bitcoin':
    case 'dogecoin':
    case 'tron':
      return hash.toString('hex')
  }
}
