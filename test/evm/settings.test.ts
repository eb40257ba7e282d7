import assert from 'node:assert/strict'
import { createCipheriv, pbkdf2Sync, scryptSync } from 'node:crypto'
import { test } from 'node:test'
import { HDKey } from '@scure/bip32'
import { keccak256 } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { depositSignersOf, openKeystore } from '../../src/chain/evm/signer.ts'
import { readSettings } from '../../src/chain/evm/settings.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { DEPOSITS, HOT_KEY } from './node.ts'

const mnemonicToSeed = (words: string): Buffer => pbkdf2Sync(words, 'mnemonic', 2048, 64, 'sha512')
const eth = BUILT_IN_WORLD.chains.find(({ chain }) => chain === 'ETH')!
const node = { rpc_url: 'http://127.0.0.1:1', chain_id: 1, xpub: DEPOSITS.publicExtendedKey, key_env: 'KEY' }

test('settings of a node: defaults, and mistakes that name their place', () => {
  assert.equal(readSettings({ ...eth, node }).poll_ms, 4000)
  const wrong: readonly [Record<string, unknown>, RegExp][] = [
    [{ rpc_url: 'ftp://x' }, /rpc_url/],
    [{ chain_id: 0 }, /chain_id/],
    [{ xpub: 'xprv9s' }, /xpub/],
    [{ key_env: undefined }, /key_env/],
    [{ keystore: 'file', password_env: 'X' }, /key_env, or keystore/],
    [{ poll_ms: 1 }, /poll_ms/],
    [{ start_block: -1 }, /start_block/],
    [{ sweeper_env: '' }, /sweeper/],
    [{ sweeper_keystore: 'file' }, /sweeper/],
    [{ sweeper_env: 'A', sweeper_keystore: 'file', sweeper_password_env: 'X' }, /sweeper/],
  ]
  for (const [change, mention] of wrong)
    assert.throws(() => readSettings({ ...eth, node: { ...node, ...change } }), mention)
  assert.throws(() => readSettings({ ...eth, tagged: true, node }), /tagged/)
})

test('the sweeper takes an extended key or the words of its seed, and only those of the xpub', () => {
  const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
  // By the wallet's library, so that the derivation is not compared with itself.
  const known = mnemonicToAccount(words, { path: "m/44'/60'/0'/0/7" }).address
  const account = HDKey.fromMasterSeed(mnemonicToSeed(words)).derive("m/44'/60'/0'")
  const settings = readSettings({
    ...eth,
    node: { ...node, xpub: account.publicExtendedKey, sweeper_env: 'KONTOR_TEST_SECRET' },
  })
  for (const secret of [words, `  ${words.replaceAll(' ', '  ')}\n`, account.privateExtendedKey]) {
    process.env['KONTOR_TEST_SECRET'] = secret
    assert.equal(depositSignersOf(settings)!.of(7).address, known)
  }
  process.env['KONTOR_TEST_SECRET'] = words.replace('legal', 'lethal')
  assert.throws(() => depositSignersOf(settings), /does not belong to node.xpub/)
  assert.equal(depositSignersOf(readSettings({ ...eth, node })), undefined)
})

test('a keystore opens with its password and with no other', () => {
  const [salt, iv] = [Buffer.alloc(32, 1), Buffer.alloc(16, 2)]
  const key = scryptSync('password', salt, 32, { N: 1024, r: 8, p: 1 })
  const cipher = createCipheriv('aes-128-ctr', key.subarray(0, 16), iv)
  const sealed = Buffer.concat([cipher.update(Buffer.from(HOT_KEY.slice(2), 'hex')), cipher.final()])
  const crypto = {
    cipher: 'aes-128-ctr',
    ciphertext: sealed.toString('hex'),
    cipherparams: { iv: iv.toString('hex') },
    kdf: 'scrypt',
    kdfparams: { n: 1024, r: 8, p: 1, dklen: 32, salt: salt.toString('hex') },
    mac: keccak256(Buffer.concat([key.subarray(16, 32), sealed])).slice(2),
  }
  const file = JSON.stringify({ version: 3, crypto })
  assert.equal(openKeystore(file, 'password'), HOT_KEY)
  assert.throws(() => openKeystore(file, 'guess'), /does not open/)
  assert.throws(() => openKeystore(JSON.stringify({ version: 1, crypto }), 'password'), /version 3/)
})
