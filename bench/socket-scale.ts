/** How much of everything is measured. */
export interface Scale {
  readonly subscribers: readonly number[]
  readonly rounds: number
  readonly seconds: number
  readonly idle: number
}
/** Limits by address would be met at once. */
export const OPEN = {
  KONTOR_CONNECTIONS: '20000',
  KONTOR_ADDRESS_CONNECTIONS: '20000',
  KONTOR_WS_CONNECTIONS: '20000',
}
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
export const ms = (values: readonly number[]): string =>
  `p50 ${quantile(values, 0.5).toFixed(2)} ms  p99 ${quantile(values, 0.99).toFixed(2)} ms`
export const quantiles = (values: readonly number[]): { p50: number; p99: number; p999: number } => ({
  p50: quantile(values, 0.5),
  p99: quantile(values, 0.99),
  p999: quantile(values, 0.999),
})
