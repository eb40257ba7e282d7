/** Codes of the account book's words, as clients of the wire know them. A word without one has the code 0. */
const CODES: Readonly<Record<string, string>> = {
  new_order: '101',
  order_fill: '102',
  cancel_order: '103',
  order_fee: '151',
  deposit: '110',
  deposit_rej: '112',
  withdraw: '4',
  cancel_withdraw: '104',
  withdraw_rej: '113',
  margin_in: '601',
  margin_out: '602',
  perp_in: '701',
  perp_out: '702',
  delivery_in: '703',
  delivery_out: '704',
  options_in: '1603',
  options_out: '1604',
  cross_in: '651',
  cross_out: '652',
  subaccount_trf: '1401',
  push_dctd: '1901',
  push_rcvd_dctd: '1903',
  push_canceled: '1905',
  push_rej: '1906',
  push_sent: '1907',
  push_rcvd: '1908',
  borrow: '630',
  repay: '631',
  interest_out: '677',
  dust_swap_dctd: '1301',
  dust_swap_gt_add: '1302',
  dust_swap_fee: '1303',
}
export const bookCode = (kind: string): string => CODES[kind] ?? '0'
export const bookKinds = (code: string): string[] =>
  Object.entries(CODES)
    .filter(([, known]) => known === code)
    .map(([kind]) => kind)
