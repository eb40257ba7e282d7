import { parseAbiItem, type Hex, type PublicClient } from 'viem'
import { eip55 } from '../../core/chains/address-formats.ts'
import { FINAL_DEPTH, type ChainTip } from '../../core/tables/tips.ts'
import type { Payment } from '../../core/deposits/observe.ts'
import { format } from '../../money/amount.ts'
import { findFork, type Look } from '../port.ts'
import { toAmount, type Tokens } from './tokens.ts'

export const TRANSFER = parseAbiItem(
  'event Transfer(address indexed from, address indexed to, uint256 value)',
)
/** Blocks of one look; the driver looks again until the tip is reached. */
const BLOCKS_MAX = 50

export interface Scanner {
  readonly client: PublicClient
  readonly tokens: Tokens
  readonly native: string
  /** What comes from it is ours already: gas for a sweep is nobody's deposit. */
  readonly hotWallet: Hex
  readonly isOurs: (address: string) => boolean
  readonly startBlock: number | undefined
}

/** Every payment to us in the blocks above the fork. The blocks must hang together, or the look is thrown away. */
export async function scan(scanner: Scanner, trail: ChainTip['trail']): Promise<Look> {
  const { client } = scanner
  const latest = Number(await client.getBlockNumber())
  const hashAt = async (height: number): Promise<string | undefined> =>
    height > latest ? undefined : (await client.getBlock({ blockNumber: BigInt(height) })).hash
  const first = Math.min(scanner.startBlock ?? latest, latest)
  const fork = trail.length === 0 ? Math.max(0, first - 1) : await findFork(trail, hashAt, FINAL_DEPTH)
  // At least as far as was seen before: what a reorganisation left in place must not seem to be gone.
  const seen = trail.at(-1)?.[0] ?? 0
  const target = Math.min(latest, Math.max(seen, fork + BLOCKS_MAX))
  const payments: Payment[] = []
  let before: string = trail.find(([height]) => height === fork)?.[1] ?? (await hashAt(fork))!
  for (let height = fork + 1; height <= target; height++) {
    const block = await client.getBlock({ blockNumber: BigInt(height), includeTransactions: true })
    if (block.parentHash !== before) throw new Error('the chain was reorganised during the look')
    before = block.hash
    const coins = block.transactions.filter(
      ({ from, to, value }) =>
        to !== null && value > 0n && eip55(from) !== scanner.hotWallet && scanner.isOurs(eip55(to)),
    )
    for (const { hash, to, value } of coins) {
      const { status } = await client.getTransactionReceipt({ hash })
      if (status === 'success')
        payments.push(paid(hash, 0, to!, scanner.native, format(toAmount(value, 18)), height))
    }
    payments.push(...(await tokenPayments(scanner, block.hash, height)))
  }
  return { fork, tip: { height: Math.max(fork, target), hash: before }, payments }
}

async function tokenPayments(scanner: Scanner, blockHash: Hex, height: number): Promise<Payment[]> {
  const { client, tokens, isOurs, hotWallet } = scanner
  if (tokens.contracts.length === 0) return []
  const logs = await client.getLogs({
    blockHash,
    address: [...tokens.contracts],
    event: TRANSFER,
    strict: true,
  })
  const payments: Payment[] = []
  for (const { address, args, transactionHash, logIndex } of logs) {
    if (args.value === 0n || eip55(args.from) === hotWallet || !isOurs(eip55(args.to))) continue
    const token = await tokens.at(address)
    // Counted from the transaction's own first log: a reorganisation moves it within the block, not within itself.
    const receipt = await client.getTransactionReceipt({ hash: transactionHash })
    const output = 1 + logIndex - receipt.logs[0]!.logIndex
    const amount = format(toAmount(args.value, token.decimals))
    payments.push(paid(transactionHash, output, args.to, token.currency, amount, height))
  }
  return payments
}
const paid = (
  txid: string,
  output: number,
  to: string,
  currency: string,
  amount: string,
  height: number,
): Payment => ({ txid, output, address: eip55(to), memo: '', currency, amount, height })
