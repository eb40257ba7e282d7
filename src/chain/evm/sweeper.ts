import type { Hex } from 'viem'
import type { DepositAddress } from '../../core/tables/addresses.ts'
import { amountOf, format, min, type Amount } from '../../money/amount.ts'
import type { DriverParts } from '../driver.ts'
import type { SweepOrder } from '../port.ts'
import { PLAIN_GAS, type EvmRpc, type Fees } from './rpc.ts'
import type { DepositSigners, Signer } from './signer.ts'
import { toAmount, toUnits, type Token } from './tokens.ts'
import { signIntent, transferCall } from './transaction.ts'

/** Addresses that one round looks at: a start with many of them does not hold up the payments. */
const ADDRESSES_AT_ONCE = 25
/** Gas is sent for so many times the fee of now: it must last until the sweep is mined. */
const GAS_MARGIN = 2n

export interface HotWallet {
  readonly signer: Signer
  nextNonce(): Promise<number>
  /** Whether it has this much of the chain's coin beyond what is promised. */
  canSpare(coins: bigint, fees: Fees): Promise<boolean>
}

/**
 * Gathers the coins of deposit addresses in the hot wallet. It keeps no books: an address is looked at again
 * whenever something about it changed, and the chain says what is there. Only what is deep enough to be credited
 * is taken, and nothing from an address with a deposit that somebody must decide on.
 */
export class EvmSweeper {
  private readonly chain: string
  private readonly parts: DriverParts
  private readonly rpc: EvmRpc
  private readonly signers: DepositSigners
  private readonly hot: HotWallet
  private readonly waiting = new Set<string>()
  /** Records by the state in which they were seen last. */
  private seen = new Map<string, string>()

  constructor(chain: string, parts: DriverParts, rpc: EvmRpc, signers: DepositSigners, hot: HotWallet) {
    this.chain = chain
    this.parts = parts
    this.rpc = rpc
    this.signers = signers
    this.hot = hot
    this.lookAtAll()
  }
  lookAtAll(): void {
    for (const { chain, address } of this.parts.core.state.wallet.addresses.deposit.values())
      if (chain === this.chain) this.waiting.add(address)
  }
  async next(): Promise<SweepOrder | undefined> {
    this.noticeChanges()
    for (const address of [...this.waiting].slice(0, ADDRESSES_AT_ONCE)) {
      const order = await this.planFor(address)
      if (order === 'later') {
        this.waiting.delete(address)
        this.waiting.add(address)
      } else if (order === undefined) this.waiting.delete(address)
      else return order
    }
    return undefined
  }
  private noticeChanges(): void {
    const { deposits, sweeps } = this.parts.core.state.wallet
    const seen = new Map<string, string>()
    const notice = (key: string, state: string, address: string): void => {
      seen.set(key, state)
      if (this.seen.get(key) !== state) this.waiting.add(address)
    }
    for (const { id, status, booked, address } of deposits.tracked(this.chain))
      notice(`d${id}`, `${status} ${booked}`, address)
    for (const { id, status, address } of sweeps.unsettled(this.chain)) notice(`s${id}`, status, address)
    this.seen = seen
  }

  /** undefined: nothing to do until something changes; later: the hot wallet is short. */
  private async planFor(address: string): Promise<SweepOrder | 'later' | undefined> {
    const { wallet, world } = this.parts.core.state
    const owner = wallet.addresses.owner(this.chain, address, '')
    const tip = wallet.tips.get(this.chain)?.height
    const deep = (tip ?? 0) - world.mustChain(this.chain).min_confirms + 1
    if (owner === undefined || tip === undefined || deep < 0) return undefined
    if (wallet.sweeps.isBusy(this.chain, address) || wallet.deposits.isHeldAt(this.chain, address))
      return undefined
    const thresholds = this.thresholds()
    // Tokens first: the coins at the address pay for them.
    for (const contract of this.rpc.tokens.contracts) {
      const token = await this.rpc.tokens.at(contract)
      const threshold = thresholds.get(token.currency)
      if (threshold === undefined || this.hasFailed(address, token.currency)) continue
      const [then, now] = await Promise.all([
        this.rpc.tokens.balance(token, address as Hex, BigInt(deep)),
        this.rpc.tokens.balance(token, address as Hex),
      ])
      const order = min(then, now) < threshold ? undefined : await this.token(owner, token, min(then, now))
      if (order !== undefined) return order
    }
    const threshold = thresholds.get(this.rpc.native)
    return threshold === undefined || this.hasFailed(address, this.rpc.native)
      ? undefined
      : this.coins(owner, BigInt(deep), threshold)
  }
  /** By currency; a currency without one is left where it is. */
  private thresholds(): Map<string, Amount> {
    const list = new Map<string, Amount>()
    for (const { currency, chains } of this.parts.core.state.world.allCurrencies)
      for (const { chain, sweep_threshold = '0' } of chains)
        if (chain === this.chain && amountOf(sweep_threshold) > 0n)
          list.set(currency, amountOf(sweep_threshold))
    return list
  }
  /** What failed once would fail again, and costs each time: it waits until the failure is history. */
  private hasFailed(address: string, currency: string): boolean {
    return this.parts.core.state.wallet.sweeps
      .unsettled(this.chain)
      .some((one) => one.status === 'FAIL' && one.address === address && one.currency === currency)
  }

  private async token(
    owner: DepositAddress,
    token: Token,
    amount: Amount,
  ): Promise<SweepOrder | 'later' | undefined> {
    const from = owner.address as Hex
    const call = transferCall(token, this.hot.signer.address, toUnits(amount, token.decimals))
    const gas = await this.rpc.gasFor(from, call)
    if (gas === undefined) return undefined
    const fees = await this.rpc.fees()
    const have = await this.rpc.coins(from)
    if (have < gas * fees.max) return this.gas(owner, gas * fees.max * GAS_MARGIN - have, fees)
    return this.order('sweep', owner, token.currency, amount, call, gas, fees)
  }
  private async coins(
    owner: DepositAddress,
    deep: bigint,
    threshold: Amount,
  ): Promise<SweepOrder | undefined> {
    const from = owner.address as Hex
    const [then, now] = await Promise.all([this.rpc.coins(from, deep), this.rpc.coins(from)])
    const held = min(then, now)
    if (held < threshold) return undefined
    const to = this.hot.signer.address
    const gas = await this.rpc.gasFor(from, transferCall(undefined, to, 1n))
    const fees = await this.rpc.fees()
    const value = gas === undefined ? 0n : held - gas * fees.max
    if (value <= 0n) return undefined
    const call = transferCall(undefined, to, value)
    return this.order('sweep', owner, this.rpc.native, toAmount(value, 18), call, gas!, fees)
  }
  /** Coins for the fee of a token's sweep, from the hot wallet. */
  private async gas(owner: DepositAddress, coins: bigint, fees: Fees): Promise<SweepOrder | 'later'> {
    if (!(await this.hot.canSpare(coins, fees))) {
      this.parts.log.warn('the hot wallet is short of gas for a sweep', { chain: this.chain })
      return 'later'
    }
    const call = transferCall(undefined, owner.address as Hex, coins)
    return this.order('gas', owner, this.rpc.native, toAmount(coins, 18), call, PLAIN_GAS, fees)
  }
  private async order(
    kind: SweepOrder['kind'],
    { address, user_id }: DepositAddress,
    currency: string,
    amount: Amount,
    call: { readonly to: Hex; readonly value: bigint; readonly data: Hex },
    gas: bigint,
    fees: Fees,
  ): Promise<SweepOrder> {
    const signer = kind === 'gas' ? this.hot.signer : this.signers.of(user_id)
    if (kind === 'sweep' && signer.address !== address)
      throw new Error(`the sweeper's key of user ${user_id} is not the one of ${address}`)
    const nonce = await (kind === 'gas' ? this.hot.nextNonce() : this.rpc.count(signer.address))
    const intent = await signIntent(signer, {
      ...call,
      chainId: this.rpc.settings.chain_id,
      nonce,
      gas,
      maxFeePerGas: fees.max,
      maxPriorityFeePerGas: fees.priority,
    })
    return { kind, currency, amount: format(amount), address, intent }
  }
}
