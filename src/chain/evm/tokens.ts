import { erc20Abi, type Hex, type PublicClient } from 'viem'
import { DECIMALS, stepOf, type Amount } from '../../money/amount.ts'

export const toAmount = (units: bigint, decimals: number): Amount => (units * stepOf(decimals)) as Amount
/** Exact, or not at all: what is booked and what is paid are the same. */
export function toUnits(amount: Amount, decimals: number): bigint {
  if (amount % stepOf(decimals) !== 0n) throw new TypeError(`an amount has more than ${decimals} decimals`)
  return amount / stepOf(decimals)
}

export interface Token {
  readonly currency: string
  readonly contract: Hex
  readonly decimals: number
}
/** The configured contracts; each is asked for its decimals once. */
export class Tokens {
  readonly contracts: readonly Hex[]
  private readonly known = new Map<string, Token>()
  private readonly client: PublicClient
  private readonly byContract: ReadonlyMap<string, string>

  constructor(client: PublicClient, currencies: readonly (readonly [currency: string, contract: string])[]) {
    this.client = client
    this.contracts = currencies.map(([, contract]) => contract as Hex)
    this.byContract = new Map(currencies.map(([currency, contract]) => [contract.toLowerCase(), currency]))
  }
  async at(contract: Hex): Promise<Token> {
    const key = contract.toLowerCase()
    const known = this.known.get(key)
    if (known !== undefined) return known
    const decimals = await this.client.readContract({
      address: contract,
      abi: erc20Abi,
      functionName: 'decimals',
    })
    const currency = this.byContract.get(key)
    if (currency === undefined || decimals > DECIMALS)
      throw new TypeError(`contract ${contract} is not configured, or has more than ${DECIMALS} decimals`)
    const token = { currency, contract, decimals }
    this.known.set(key, token)
    return token
  }
  async of(currency: string): Promise<Token | undefined> {
    for (const contract of this.contracts)
      if (this.byContract.get(contract.toLowerCase()) === currency) return this.at(contract)
    return undefined
  }
  async balance({ contract, decimals }: Token, owner: Hex, block?: bigint): Promise<Amount> {
    const units = await this.client.readContract({
      address: contract,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [owner],
      ...(block !== undefined && { blockNumber: block }),
    })
    return toAmount(units, decimals)
  }
}
