import { OperatorClient } from '../test/support/client.ts'
import { tellFacts } from './facts.ts'
import { megabytes } from './family.ts'
import { withLimits } from './growth-resting.ts'
import { generate } from './load-generator.ts'
import { repeated } from './repeated.ts'
import { print, type Row, type Table } from './results.ts'
import { launch, type ServerInfo } from './servers.ts'
import { signedRequest, type Signer } from './signed.ts'

/** Signed requests by the keys of more and more accounts. */
const SIZES = [10, 100, 1_000, 10_000, 100_000]
const KEYS_MAX = 1_000
/** The secrets of so many are kept, of each step a part. */
const ASKING = 1_000
const CONNECTIONS = 64
const ROUNDS = 3
const AT_ONCE = 32

export async function measured(quick: boolean): Promise<Table[]> {
  tellFacts('SQLite')
  const [sizes, seconds, rounds] = quick ? [[10, 300], 1, 1] : [SIZES, 3, ROUNDS]
  const rows = await withLimits({ keys_max: KEYS_MAX }, async (env) => {
    const { info, pid, stop } = await launch('kontor', env)
    await asked(info, [info], seconds, rounds) // a cold platform is not what is asked about
    const maker = new KeyMaker(info)
    const grown: Row[] = []
    for (const size of sizes) {
      await maker.upTo(size)
      grown.push({
        name: 'SQLite',
        at: size,
        figures: { ...(await asked(info, maker.signers, seconds, rounds)), megabytes: megabytes(pid) },
      })
    }
    await stop()
    return grown
  })
  const table: Table = {
    title: 'Signed reads of a balance',
    at: 'keys',
    rows,
    plots: [
      { figure: 'rate', logX: true },
      { figure: 'megabytes', logX: true },
    ],
  }
  print(table)
  return [table]
}

class KeyMaker {
  /** Those that ask: the newest of each step, so that they lie among all. */
  signers: Signer[] = []
  private readonly info: ServerInfo
  private readonly operator: OperatorClient
  private made = 0
  private user = 0
  constructor(info: ServerInfo) {
    this.info = info
    this.operator = new OperatorClient(`http://127.0.0.1:${info.port}`, info.token)
  }
  async upTo(size: number): Promise<void> {
    while (this.made < size) {
      if (this.made % KEYS_MAX === 0) {
        const made = await this.operator.ok('POST', '/users', { login_name: `keys_${this.made}` })
        this.user = made.user_id as number
      }
      const count = Math.min(size, Math.floor(this.made / KEYS_MAX + 1) * KEYS_MAX) - this.made
      const shown = Math.min(count, Math.max(1, Math.ceil((ASKING * count) / size)))
      await this.tell(shown)
      await this.bulk(count - shown)
      this.made += count
    }
  }
  private readonly body = {
    name: 'bench',
    mode: 1,
    perms: [{ name: 'wallet' }, { name: 'spot' }],
    ip_whitelist: [],
  }
  private async tell(count: number): Promise<void> {
    const added: Signer[] = []
    for (let done = 0; done < count; done += AT_ONCE)
      added.push(
        ...(await Promise.all(
          Array.from({ length: Math.min(AT_ONCE, count - done) }, async () => {
            const made = await this.operator.ok('POST', `/users/${this.user}/keys`, this.body)
            return { port: this.info.port, key: String(made.key), secret: String(made.secret) }
          }),
        )),
      )
    this.signers = [...this.signers, ...added].slice(-ASKING)
  }
  private async bulk(count: number): Promise<void> {
    if (count === 0) return
    const text = JSON.stringify(this.body)
    const request = Buffer.from(
      `POST /operator/v1/users/${this.user}/keys HTTP/1.1\r\nHost: 127.0.0.1:${this.info.port}\r\nAuthorization: Bearer ${this.info.token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    )
    const requests = Array.from({ length: count }, () => request)
    const load = { port: this.info.port, connections: CONNECTIONS, seconds: 0, requests, once: true }
    const { failures } = await generate(load)
    if (failures > 0) throw new Error(`${failures} keys could not be made`)
  }
}
async function asked(
  { port }: ServerInfo,
  signers: readonly Signer[],
  seconds: number,
  rounds: number,
): Promise<Row['figures']> {
  const requests = Array.from({ length: Math.max(signers.length, 1_000) }, (_, i) =>
    signedRequest(signers[i % signers.length]!, 'GET', '/api/v4/spot/accounts', 'currency=USDT', undefined),
  )
  const load = { port, connections: CONNECTIONS, requests }
  return repeated(load, { seconds, rounds })
}
