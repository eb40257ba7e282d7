/** Where strays send money: a chain of their own. */
export const TRON = {
  currency: 'USDT',
  chain: 'TRX',
  address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
} as const
