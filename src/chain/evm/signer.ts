import { createDecipheriv, scryptSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { keccak_256 } from '@noble/hashes/sha3'
import { keccak256, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { secretFrom } from '../../config.ts'
import type { EvmSettings } from './settings.ts'

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
    return keySigner(openKeystore(readFileSync(keystore!, 'utf8'), secretFrom(password_env!)))
  const key = secretFrom(key_env)
  if (!/^(0x)?[0-9a-fA-F]{64}$/.test(key)) throw new TypeError(`${key_env} must be 64 hex digits`)
  return keySigner(`0x${key.replace(/^0x/, '')}`)
}

interface Keystore {
  readonly version: number
  readonly crypto: {
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
export function openKeystore(json: string, password: string): Hex {
  const { version, crypto } = JSON.parse(json) as Keystore
  if (version !== 3 || crypto.kdf !== 'scrypt' || crypto.cipher !== 'aes-128-ctr')
    throw new TypeError('the keystore must be of version 3 with scrypt and aes-128-ctr')
  const { n, r, p, dklen, salt } = crypto.kdfparams
  const key = scryptSync(password, bytes(salt), dklen, { N: n, r, p, maxmem: 256 * n * r })
  const sealed = bytes(crypto.ciphertext)
  const mac = Buffer.from(keccak_256(Buffer.concat([key.subarray(16, 32), sealed])))
  if (!mac.equals(bytes(crypto.mac))) throw new TypeError('the password does not open the keystore')
  const decipher = createDecipheriv('aes-128-ctr', key.subarray(0, 16), bytes(crypto.cipherparams.iv))
  return `0x${Buffer.concat([decipher.update(sealed), decipher.final()]).toString('hex')}`
}
