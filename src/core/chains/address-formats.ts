import { keccak_256 } from '@noble/hashes/sha3'
import type { AddressFormat } from '../tables/world/chains.ts'
import {
  BITCOIN_ALPHABET,
  RIPPLE_ALPHABET,
  base58,
  base58Check,
  fromBase58,
  fromBase58Check,
  fromSegwit,
  segwit,
  sha256,
} from './encodings.ts'

/** How one kind of chain writes addresses. */
interface Format {
  /** An address out of 32 bytes, for simulated chains: nobody holds a key to it. */
  readonly from: (seed: Buffer) => string
  /** The canonical spelling, or undefined when form or checksum is wrong. */
  readonly read: (text: string) => string | undefined
  readonly example: string
}

const EVM = /^0x[0-9a-fA-F]{40}$/
/** EIP-55: a letter is a capital where the hash of the lower-case text has a high digit. */
export function eip55(address: string): string {
  const lower = address.slice(2).toLowerCase()
  const hash = Buffer.from(keccak_256(lower)).toString('hex')
  const mixed = Array.from(lower, (c, i) => (parseInt(hash[i]!, 16) >= 8 ? c.toUpperCase() : c))
  return `0x${mixed.join('')}`
}
function readEvm(text: string): string | undefined {
  if (!EVM.test(text)) return undefined
  const digits = text.slice(2)
  const sums = eip55(text)
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  return oneCase || text === sums ? sums : undefined
}
const checked =
  (alphabet: string, versions: readonly number[], length: number) =>
  (text: string): string | undefined => {
    const found = fromBase58Check(text, alphabet)
    return found !== undefined && versions.includes(found.version) && found.payload.length === length
      ? text
      : undefined
  }
const readBase58Bitcoin = checked(BITCOIN_ALPHABET, [0x00, 0x05], 20)
const readBitcoin = (text: string): string | undefined =>
  /^bc1/i.test(text)
    ? fromSegwit(text, 'bc') === undefined
      ? undefined
      : text.toLowerCase()
    : readBase58Bitcoin(text)

const short = (seed: Buffer): Buffer => seed.subarray(0, 20)

export const FORMATS: Readonly<Record<AddressFormat, Format>> = {
  evm: {
    from: (seed) => eip55(`0x${short(seed).toString('hex')}`),
    read: readEvm,
    example: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  },
  bitcoin: {
    from: (seed) => segwit('bc', 0, short(seed)),
    read: readBitcoin,
    example: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  },
  dogecoin: {
    from: (seed) => base58Check(0x1e, short(seed), BITCOIN_ALPHABET),
    read: checked(BITCOIN_ALPHABET, [0x1e, 0x16], 20),
    example: 'DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L',
  },
  tron: {
    from: (seed) => base58Check(0x41, short(seed), BITCOIN_ALPHABET),
    read: checked(BITCOIN_ALPHABET, [0x41], 20),
    example: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  },
  solana: {
    from: (seed) => base58(seed, BITCOIN_ALPHABET),
    read: (text) => (fromBase58(text, BITCOIN_ALPHABET)?.length === 32 ? text : undefined),
    example: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
  },
  ripple: {
    from: (seed) => base58Check(0x00, short(seed), RIPPLE_ALPHABET),
    read: checked(RIPPLE_ALPHABET, [0x00], 20),
    example: 'rDTXLQ7ZKZVKz33zJbHjgVShjsBnqMBhmN',
  },
}

/** XRP-like tags are 32-bit numbers. */
export const isTag = (text: string): boolean => /^(0|[1-9]\d{0,9})$/.test(text) && Number(text) <= 0xffffffff

/** Deterministic addresses of a simulated chain: the same user has the same address after every reset. */
export const simulatedAddress = (format: AddressFormat, chain: string, owner: string): string =>
  FORMATS[format].from(sha256(`kontor simulated ${chain} ${owner}`))
