/**
 * The reference's table of rate limits as data. An endpoint names its row; endpoints of one row that share a
 * `bucket` are counted together, all others each for itself.
 */
export interface LimitRule {
  readonly requests: number
  readonly seconds: number
  readonly basis: 'ip' | 'uid' | 'uid+market'
  /** Counted together under this name; null: each endpoint by itself. */
  readonly bucket: string | null
  /** What a refusal is called. */
  readonly label: 'TOO_MANY_REQUESTS' | 'TOO_FAST'
  /** More for those whose fill ratio is good: see below. */
  readonly tiered?: true
}
const rule = (
  requests: number,
  seconds: number,
  basis: LimitRule['basis'],
  bucket: string | null = null,
  label: LimitRule['label'] = 'TOO_MANY_REQUESTS',
): LimitRule => ({ requests, seconds, basis, bucket, label })

export const LIMITS = {
  public: rule(200, 10, 'ip'),
  /** Pages, OpenAPI and metrics: not in the reference. */
  pages: rule(200, 10, 'ip', 'pages'),
  /** The console's own calls: not in the reference either. */
  console: rule(300, 10, 'ip', 'console'),
  consoleAccount: rule(200, 10, 'uid', 'console.account'),
  signIn: rule(60, 10, 'ip', 'console.sign_in'),
  signUp: rule(10, 600, 'ip', 'console.sign_up'),
  withdraw: rule(1, 3, 'uid', null, 'TOO_FAST'),
  push: rule(1, 10, 'uid'),
  walletTransfers: rule(80, 10, 'uid'),
  wallet: rule(200, 10, 'uid'),
  spotPlace: rule(10, 1, 'uid+market', 'spot.place'),
  spotCancel: rule(200, 1, 'uid', 'spot.cancel'),
  spot: rule(200, 10, 'uid'),
  futuresPlace: { ...rule(100, 1, 'uid', 'futures.place'), tiered: true },
  futuresCancel: rule(200, 1, 'uid', 'futures.cancel'),
  futures: rule(200, 10, 'uid'),
  /** Orders over sockets, placed, amended and cancelled together. */
  futuresCalls: rule(100, 1, 'uid', 'futures.calls'),
  deliveryPlace: rule(500, 10, 'uid', 'delivery.place'),
  deliveryCancel: rule(500, 10, 'uid', 'delivery.cancel'),
  delivery: rule(200, 10, 'uid'),
  optionsPlace: rule(200, 1, 'uid', 'options.place'),
  optionsCancel: rule(200, 1, 'uid', 'options.cancel'),
  options: rule(200, 10, 'uid'),
  subAccounts: rule(80, 10, 'uid'),
  unifiedLoans: rule(15, 10, 'uid'),
  otherPrivate: rule(150, 10, 'uid'),
} as const satisfies Record<string, LimitRule>

/** Limits of perpetual placement by fill ratio, for VIP 14 and above: lower bound of the ratio → requests a second. */
export const FILL_RATIO_TIERS: readonly {
  readonly tier: number
  readonly from: number
  readonly requests: number
}[] = [
  { tier: 1, from: 0, requests: 100 },
  { tier: 2, from: 1, requests: 150 },
  { tier: 3, from: 3, requests: 200 },
  { tier: 4, from: 5, requests: 250 },
  { tier: 5, from: 10, requests: 300 },
  { tier: 6, from: 20, requests: 350 },
  { tier: 7, from: 50, requests: 400 },
]
