import { parseAmount } from '../../../money/amount.ts'

/** How a chain writes its addresses; each has its own checksum. */
export const ADDRESS_FORMATS = ['evm', 'bitcoin', 'dogecoin', 'tron', 'solana', 'ripple'] as const
export type AddressFormat = (typeof ADDRESS_FORMATS)[number]

/** Steps at which the sender can be told to stop, so that a tester can look at them. */
export const SENDER_STOPS = ['REQUEST', 'PROCES', 'PEND'] as const
export type SenderStop = (typeof SENDER_STOPS)[number]

/** A chain. What an operator changes at run time is kept beside it (`chain:NAME`) and wins. */
export interface ChainConfig {
  readonly chain: string
  readonly name_en: string
  readonly name_cn: string
  /** Who drives it: `simulated` lives in the platform's own store. */
  readonly kind: 'simulated' | 'evm'
  readonly address_format: AddressFormat
  /** One address for all accounts, and a tag for each. */
  readonly tagged: boolean
  /** The coin that its fees are paid in, and the fee of one payment. */
  readonly native: string
  readonly network_fee: string
  /** Confirmations until a deposit is credited and a withdrawal is done. */
  readonly min_confirms: number
  /** Confirmations until a deposit may be withdrawn. */
  readonly unlock_confirms: number
  /** Simulated chains: a block each so many seconds; 0 is only by hand. */
  readonly auto_mine_seconds: number
  /** How long a withdrawal waits before the sender claims it: the time in which it can be cancelled. */
  readonly send_delay_seconds: number
  /** Withdrawals wait as LOCKED. */
  readonly paused: boolean
  /** The sender stops after this step; null is the ordinary way. */
  readonly sender_stops_at: SenderStop | null
  /** Settings of a real node; each adapter checks its own. */
  readonly node?: Readonly<Record<string, unknown>>
}
export type ChainChange = Partial<
  Pick<
    ChainConfig,
    | 'paused'
    | 'auto_mine_seconds'
    | 'min_confirms'
    | 'unlock_confirms'
    | 'send_delay_seconds'
    | 'sender_stops_at'
  >
>

/** A currency on one of its chains. */
export interface CurrencyChain {
  readonly chain: string
  /** Empty for a chain's own coin. */
  readonly contract_address: string
  /** Decimals of an amount on this chain. */
  readonly decimal: number
  readonly deposit_enabled: boolean
  readonly withdraw_enabled: boolean
  readonly min_deposit_amount: string
  readonly withdraw_amount_mini: string
  readonly withdraw_fix: string
  /** In percent: "0.1" takes a thousandth. */
  readonly withdraw_percent: string
  /** auto: the sandbox's operator fills the hot wallet as needed; manual: what is short waits as DMOVE. */
  readonly hot_wallet: 'auto' | 'manual'
  /** Real chains: a deposit address that holds this much is swept into the hot wallet; left out or "0": never. */
  readonly sweep_threshold?: string
}
/** The steps of a currency out of the platform; after the last one its row is gone. */
export const CURRENCY_STATUSES = ['listed', 'withdraw_only'] as const
export type CurrencyStatus = (typeof CURRENCY_STATUSES)[number]
/** What moves a currency in and out of the platform. */
export interface CurrencyTransport {
  readonly name_cn: string
  readonly deposit_enabled: boolean
  readonly withdraw_enabled: boolean
  /** Units of the currency. */
  readonly withdraw_day_limit: string
  readonly withdraw_eachtime_limit: string
  /** Above it operators must approve, `approvals` of them. */
  readonly approval_amount: string
  readonly approvals: number
  /** USDT for one unit, until somebody says better. */
  readonly index_price: string
  /** Live mode uses index_price only where this is true: for what keeps to its price, such as a stable coin. */
  readonly index_price_trusted?: boolean
  readonly chains: readonly CurrencyChain[]
}
export interface CurrencyChange {
  /** `gone` hides the row that the file still has. */
  readonly status?: CurrencyStatus | 'gone'
  readonly deposit_enabled?: boolean
  readonly withdraw_enabled?: boolean
  readonly withdraw_day_limit?: string
  readonly withdraw_eachtime_limit?: string
  readonly approval_amount?: string
  readonly approvals?: number
  readonly chains?: Readonly<Record<string, Partial<Omit<CurrencyChain, 'chain'>>>>
}

/** The configured currency with an operator's changes laid over it. */
export function withChange<C extends CurrencyTransport>(
  config: C,
  change: Omit<CurrencyChange, 'status'> | undefined,
): C {
  if (change === undefined) return config
  const { chains, ...rest } = change
  return {
    ...config,
    ...rest,
    chains: config.chains.map((chain) => ({ ...chain, ...chains?.[chain.chain] })),
  }
}
/** A later change goes over an earlier one, chain by chain. */
export function mergeChanges(before: CurrencyChange | undefined, after: CurrencyChange): CurrencyChange {
  const chains: Record<string, Partial<Omit<CurrencyChain, 'chain'>>> = { ...before?.chains }
  for (const [name, change] of Object.entries(after.chains ?? {}))
    chains[name] = { ...chains[name], ...change }
  return { ...before, ...after, ...(Object.keys(chains).length > 0 && { chains }) }
}

const isList = (value: unknown): boolean => Array.isArray(value)
const isDecimal = (text: unknown): boolean => typeof text === 'string' && parseAmount(text) !== undefined
const isCount = (value: unknown, low: number): boolean =>
  Number.isInteger(value) && (value as number) >= low && (value as number) <= 1_000_000

/** Checks the chains of a configuration; the error says where it is wrong. */
export function checkChains(chains: readonly ChainConfig[], currencies: ReadonlySet<string>): void {
  const names = new Set<string>()
  if (!isList(chains)) throw new TypeError('chains must be a list')
  for (const [i, chain] of chains.entries()) {
    const where = `chains[${i}]`
    if (!/^[A-Z0-9]{1,20}$/.test(chain.chain))
      throw new TypeError(`${where}.chain must be 1 to 20 of A-Z 0-9`)
    if (names.has(chain.chain)) throw new TypeError(`${where}.chain ${chain.chain} is there twice`)
    names.add(chain.chain)
    if (!['simulated', 'evm'].includes(chain.kind))
      throw new TypeError(`${where}.kind must be simulated or evm`)
    if (!ADDRESS_FORMATS.includes(chain.address_format))
      throw new TypeError(`${where}.address_format must be one of ${ADDRESS_FORMATS.join(', ')}`)
    if (!currencies.has(chain.native))
      throw new TypeError(`${where}.native names ${chain.native}, which is not among the currencies`)
    if (!isDecimal(chain.network_fee)) throw new TypeError(`${where}.network_fee must be a decimal string`)
    if (!isCount(chain.min_confirms, 1)) throw new TypeError(`${where}.min_confirms must be 1 or more`)
    if (!isCount(chain.unlock_confirms, chain.min_confirms))
      throw new TypeError(`${where}.unlock_confirms must be min_confirms or more`)
    for (const name of ['auto_mine_seconds', 'send_delay_seconds'] as const)
      if (!isCount(chain[name], 0)) throw new TypeError(`${where}.${name} must be 0 or more`)
  }
}

/** Checks how one currency moves; `where` names it in the configuration file. */
export function checkTransport(
  config: CurrencyTransport & { readonly precision: number; readonly low_cap: boolean },
  chains: ReadonlySet<string>,
  where: string,
): void {
  for (const name of [
    'withdraw_day_limit',
    'withdraw_eachtime_limit',
    'approval_amount',
    'index_price',
  ] as const)
    if (!isDecimal(config[name])) throw new TypeError(`${where}.${name} must be a decimal string`)
  if (!['undefined', 'boolean'].includes(typeof config.index_price_trusted))
    throw new TypeError(`${where}.index_price_trusted must be true or false`)
  if (!isCount(config.approvals, 1)) throw new TypeError(`${where}.approvals must be 1 or more`)
  if (!isList(config.chains)) throw new TypeError(`${where}.chains must be a list`)
  if (config.low_cap && config.chains.length > 0)
    throw new TypeError(`${where}.chains: a low-cap currency has none`)
  const seen = new Set<string>()
  for (const [i, chain] of config.chains.entries()) {
    const place = `${where}.chains[${i}]`
    if (!chains.has(chain.chain))
      throw new TypeError(`${place}.chain names ${chain.chain}, which is not among the chains`)
    if (seen.has(chain.chain)) throw new TypeError(`${place}.chain ${chain.chain} is there twice`)
    seen.add(chain.chain)
    if (!Number.isInteger(chain.decimal) || chain.decimal < 0 || chain.decimal > config.precision)
      throw new TypeError(`${place}.decimal must be from 0 to the currency's precision`)
    for (const name of [
      'min_deposit_amount',
      'withdraw_amount_mini',
      'withdraw_fix',
      'withdraw_percent',
    ] as const)
      if (!isDecimal(chain[name])) throw new TypeError(`${place}.${name} must be a decimal string`)
    if (chain.sweep_threshold !== undefined && !isDecimal(chain.sweep_threshold))
      throw new TypeError(`${place}.sweep_threshold must be a decimal string`)
  }
}
