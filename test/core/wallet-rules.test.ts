import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FORMATS, simulatedAddress } from '../../src/core/chains/address-formats.ts'
import { ADDRESS_FORMATS } from '../../src/core/tables/world/chains.ts'
import { BUILT_IN_POLICY, BUILT_IN_TRANSPORT } from '../../src/core/world/built-in-chains.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { checkWorld } from '../../src/core/tables/world/world.ts'
import { judge, type PolicyFacts } from '../../src/core/withdrawals/policy.ts'
import { withdrawalFee } from '../../src/core/withdrawals/request.ts'
import { amountOf, format } from '../../src/money/amount.ts'

test('addresses that the world knows are read, and one wrong character is not', () => {
  const good: Record<(typeof ADDRESS_FORMATS)[number], string[]> = {
    evm: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359'],
    bitcoin: [
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
      '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
      '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
    ],
    dogecoin: ['DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L'],
    tron: ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    solana: ['Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', '11111111111111111111111111111111'],
    ripple: ['rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh', 'rDTXLQ7ZKZVKz33zJbHjgVShjsBnqMBhmN'],
  }
  for (const format of ADDRESS_FORMATS) {
    const { read } = FORMATS[format]
    for (const address of good[format]) assert.notEqual(read(address), undefined, address)
    const own = simulatedAddress(format, 'X', 'somebody')
    assert.equal(read(own), own)
    for (const other of ADDRESS_FORMATS)
      if (other !== format && !(format === 'bitcoin' && other === 'dogecoin'))
        assert.equal(FORMATS[other].read(own), undefined, `${own} is no ${other} address`)
    assert.equal(read(''), undefined)
    assert.equal(read(`${own}x`), undefined)
  }
  const evm = good.evm[0]!
  assert.equal(FORMATS.evm.read(evm.toLowerCase()), evm)
  assert.equal(FORMATS.evm.read(evm.replace('A', 'a')), undefined)
  for (const [format, address] of Object.entries(good))
    if (format !== 'solana' && format !== 'evm') {
      const changed = address[0]!.slice(0, -1) + (address[0]!.endsWith('z') ? 'y' : 'z')
      assert.equal(FORMATS[format as 'tron'].read(changed), undefined, changed)
    }
  assert.equal(FORMATS.bitcoin.read('bc1qW508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'), undefined)
})

test('the fee is fixed plus percent, lifted to the decimals of the chain', () => {
  const on = {
    ...BUILT_IN_TRANSPORT['ETH']!.chains[0]!,
    withdraw_fix: '0.5',
    withdraw_percent: '0.3',
    decimal: 4,
  }
  assert.equal(format(withdrawalFee(on, amountOf('10'))), '0.53')
  assert.equal(format(withdrawalFee(on, amountOf('10.0001'))), '0.5301')
})

const facts: PolicyFacts = {
  amount: amountOf('1'),
  usdt: amountOf('3000'),
  priced: true,
  approvalAmount: amountOf('10'),
  addressHours: 48,
  passwordHours: null,
  recent: { count: 0, usdt: amountOf('0') },
  internal: false,
  chainPaused: false,
}
test('the policy holds what it should, in order', () => {
  const cases: [Partial<PolicyFacts>, Partial<typeof BUILT_IN_POLICY>, string[]][] = [
    [{}, {}, []],
    [{ addressHours: 23.9 }, {}, ['REVIEW']],
    [{ addressHours: 24 }, {}, []],
    [{ addressHours: null }, {}, ['REVIEW']],
    [{ addressHours: null }, { new_address_hours: 0 }, []],
    [{ passwordHours: 1 }, {}, ['REVIEW']],
    [{ passwordHours: 25 }, {}, []],
    [{ amount: amountOf('10') }, {}, []],
    [{ amount: amountOf('10.1') }, {}, ['MANUAL']],
    [{ amount: amountOf('10.1'), addressHours: 1 }, {}, ['MANUAL']],
    [{ priced: false, usdt: amountOf('0') }, {}, ['MANUAL']],
    [{ chainPaused: true, amount: amountOf('11') }, {}, ['LOCKED', 'MANUAL']],
    [{}, { verify_above_usdt: '2999' }, ['VERIFY']],
    [{}, { verify_above_usdt: '1', face_verify_above_usdt: '2' }, ['FVERIFY']],
    [
      { recent: { count: 2, usdt: amountOf('0') } },
      { velocity: { hours: 1, count: 2, usdt: '1000000' } },
      ['REVIEW'],
    ],
    [{ internal: true, addressHours: 0, chainPaused: true }, {}, []],
    [{ internal: true, addressHours: 0, chainPaused: true }, { internal_transfers: 'checked' }, ['REVIEW']],
  ]
  for (const [change, policy, expected] of cases)
    assert.deepEqual(
      judge({ ...BUILT_IN_POLICY, ...policy }, { ...facts, ...change }).map(({ status }) => status),
      expected,
      JSON.stringify([Object.keys(change), policy]),
    )
})

test('a wrong configuration names the place', () => {
  const [btc, ...rest] = BUILT_IN_WORLD.currencies
  const [chain, ...chains] = BUILT_IN_WORLD.chains
  const cases: [object, RegExp][] = [
    [{ chains: [{ ...chain, min_confirms: 0 }, ...chains] }, /chains\[0\]\.min_confirms/],
    [{ chains: [{ ...chain, unlock_confirms: 1 }, ...chains] }, /chains\[0\]\.unlock_confirms/],
    [{ chains: [chain, chain, ...chains] }, /chains\[1\]\.chain BTC is there twice/],
    [{ chains: [{ ...chain, address_format: 'morse' }, ...chains] }, /address_format/],
    [{ chains: 7 }, /chains must be a list/],
    [{ currencies: [{ ...btc, approval_amount: 'lots' }, ...rest] }, /currencies\[0\]\.approval_amount/],
    [{ currencies: [{ ...btc, chains: [{ ...btc!.chains[0], chain: 'MARS' }] }, ...rest] }, /MARS/],
    [{ currencies: [{ ...btc, chains: [{ ...btc!.chains[0], decimal: 19 }] }, ...rest] }, /decimal/],
    [{ policy: { ...BUILT_IN_POLICY, cancel_seconds: -1 } }, /policy\.cancel_seconds/],
    [{ exchange_rates: { USD: '1' } }, /exchange_rates\.CNY/],
  ]
  checkWorld(BUILT_IN_WORLD)
  for (const [change, message] of cases)
    assert.throws(() => checkWorld({ ...BUILT_IN_WORLD, ...change }), message)
})
