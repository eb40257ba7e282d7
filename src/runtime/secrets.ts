import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  scrypt,
  timingSafeEqual,
} from 'node:crypto'

/** Randomness and secrets come in through this door; the core sees only what was drawn. */
export const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex')
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The key of the sums over all rows: another one than the key that encrypts, made from it. */
export const sumsKey = (keyHex: string): string =>
  createHmac('sha256', Buffer.from(keyHex, 'hex')).update('kontor: sums of rows').digest('hex')

/** Encrypts API secrets at rest with a key that is not in the database (AES-256-GCM). */
export class SecretBox {
  private readonly key: Buffer
  constructor(keyHex: string) {
    this.key = Buffer.from(keyHex, 'hex')
  }
  seal(secret: string): string {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce)
    const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
  }
  /** undefined when it was sealed with another key (another environment) or is damaged. */
  open(box: string): string | undefined {
    const bytes = Buffer.from(box, 'base64')
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.key, bytes.subarray(0, 12))
      decipher.setAuthTag(bytes.subarray(12, 28))
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
    } catch {
      return undefined
    }
  }
}

/** scrypt with 16 MiB: memory-hard, some 40 ms. */
const COST = { N: 16384, r: 8, p: 1 }
const derive = (password: string, salt: string): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    scrypt(password, salt, 32, COST, (error, hash) => (error === null ? resolve(hash) : reject(error))),
  )
export async function hashPassword(password: string): Promise<string> {
  const salt = randomHex(16)
  return `scrypt$${salt}$${(await derive(password, salt)).toString('hex')}`
}
export async function checkPassword(password: string, stored: string): Promise<boolean> {
  const [kind, salt, hash] = stored.split('$')
  if (kind !== 'scrypt' || salt === undefined || hash === undefined) return false
  return timingSafeEqual(await derive(password, salt), Buffer.from(hash, 'hex'))
}
