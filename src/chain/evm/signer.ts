import { createDecipheriv, pbkdf2Sync, scryptSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { keccak_256 } from '@noble/hashes/sha3'
import { HDKey } from '@scure/bip32'
import { keccak256, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { ConfigError, secretFrom } from '../../config.ts'
import type { EvmSettings } from '../../config-file.ts'

/** A transaction, complete down to its nonce: signing it twice gives the same payment. */
export interface UnsignedTransaction {
  readonly chainId: number
  readonly nonce: number
  readonly to: Hex
  readonly value: bigint
  readonly data: Hex
  readonly gas: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}
/** Holds the hot wallet's key. An HSM or an MPC service takes its place behind the same two members. */
export interface Signer {
  readonly address: Hex
  sign(transaction: UnsignedTransaction): Promise<{ readonly txid: Hex; readonly signed: Hex }>
}

export function keySigner(privateKey: Hex): Signer {
  const account = privateKeyToAccount(privateKey)
  return {
    address: account.address,
    sign: async (transaction) => {
      const signed = await account.signTransaction({ ...transaction, type: 'eip1559' })
      return { txid: keccak256(signed), signed }
    },
  }
}

export function signerOf({ key_env, keystore, password_env }: EvmSettings): Signer {
  if (key_env === undefined)
    return usable(openKeystore(keystoreFile(keystore!), secretFrom(password_env!)), `the key in ${keystore!}`)
  const key = secretFrom(key_env)
  if (!/^(0x)?[0-9a-fA-F]{64}$/.test(key)) throw new ConfigError(`${key_env} must be 64 hex digits`)
  return usable(`0x${key.replace(/^0x/, '')}`, key_env)
}
/** Nothing of a key is ever told, only where it came from. */
function usable(key: Hex, from: string): Signer {
  try {
    return keySigner(key)
  } catch {
    throw new ConfigError(`${from} is no private key (32 bytes, not zero, below the curve's order)`)
  }
}
function keystoreFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError(
      `the keystore ${path} can't be read (${(error as NodeJS.ErrnoException).code ?? ''})`,
    )
  }
}

/** Signs for deposit addresses. Like `Signer`, a service outside can take its place. */
export interface DepositSigners {
  of(userId: number): Signer
}
/** undefined: the settings name no secret, and nothing is swept. */
export function depositSignersOf(settings: EvmSettings): DepositSigners | undefined {
  const { sweeper_env, sweeper_keystore, sweeper_password_env, xpub } = settings
  if (sweeper_env === undefined && sweeper_keystore === undefined) return undefined
  const secret =
    sweeper_env === undefined
      ? openKeystoreText(keystoreFile(sweeper_keystore!), secretFrom(sweeper_password_env!))
      : secretFrom(sweeper_env)
  const account = accountKey(secret.trim())
  // A word mistyped gives another key: it must be the one whose public half made the addresses.
  if (account.publicExtendedKey !== HDKey.fromExtendedKey(xpub).publicExtendedKey)
    throw new ConfigError(`the sweeper's secret does not belong to node.xpub`)
  const receiving = account.deriveChild(0)
  return {
    of: (userId) => keySigner(`0x${Buffer.from(receiving.deriveChild(userId).privateKey!).toString('hex')}`),
  }
}
/** An extended private key of m/44'/60'/0', or the words that it is derived from (BIP-39, no passphrase). */
function accountKey(secret: string): HDKey {
  if (secret.startsWith('xprv'))
    try {
      return HDKey.fromExtendedKey(secret)
    } catch {
      throw new ConfigError(`the sweeper's secret is not a whole extended private key`)
    }
  const words = secret.normalize('NFKD').split(/\s+/).join(' ')
  const seed = pbkdf2Sync(words, 'mnemonic', 2048, 64, 'sha512')
  return HDKey.fromMasterSeed(seed).derive("m/44'/60'/0'")
}

interface Keystore {
  readonly version?: number
  readonly crypto?: {
    readonly cipher: string
    readonly ciphertext: string
    readonly cipherparams: { readonly iv: string }
    readonly kdf: string
    readonly kdfparams: { n: number; r: number; p: number; dklen: number; salt: string }
    readonly mac: string
  }
}
const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex')
/** A version 3 keystore with scrypt, as wallets write it. */
export const openKeystore = (json: string, password: string): Hex =>
  `0x${unseal(json, password).toString('hex')}`
export const openKeystoreText = (json: string, password: string): string =>
  unseal(json, password).toString('utf8')
function unseal(json: string, password: string): Buffer {
  let keystore: Keystore
  try {
    keystore = JSON.parse(json) as Keystore
  } catch {
    throw new ConfigError('the keystore is not JSON')
  }
  const { version, crypto } = keystore
  if (version !== 3 || crypto?.kdf !== 'scrypt' || crypto.cipher !== 'aes-128-ctr')
    throw new ConfigError('the keystore must be of version 3 with scrypt and aes-128-ctr')
  const { n, r, p, dklen, salt } = crypto.kdfparams
  const key = scryptSync(password, bytes(salt), dklen, { N: n, r, p, maxmem: 256 * n * r })
  const sealed = bytes(crypto.ciphertext)
  const mac = Buffer.from(keccak_256(Buffer.concat([key.subarray(16, 32), sealed])))
  if (!mac.equals(bytes(crypto.mac))) throw new ConfigError('the password does not open the keystore')
  const decipher = createDecipheriv('aes-128-ctr', key.subarray(0, 16), bytes(crypto.cipherparams.iv))
  return Buffer.concat([decipher.update(sealed), decipher.final()])
}
