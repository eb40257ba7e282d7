import { plant } from '../../support/plant.ts'
import { codeAt } from '../../support/totp.ts'
import type { Answer } from './house.ts'
import { TRON } from './outside.ts'
import type { Scene, Stage } from './stage.ts'

const PASSWORD = 'correct horse battery'
const HOST = 'localhost'
const OPEN_MS = 300_000

/** Somebody before a browser, as far as the console can tell. */
class Person {
  private readonly stage: Stage
  private readonly cookies = new Map<string, string>()
  private csrf: string | undefined
  constructor(stage: Stage) {
    this.stage = stage
  }
  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await this.stage.house.page(method, path, body, {
      host: HOST,
      cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      ...(method !== 'GET' && {
        origin: `http://${HOST}`,
        ...(this.csrf !== undefined && { 'x-kontor-csrf': this.csrf }),
      }),
    })
    const { headers } = answer
    for (let i = 0; i < headers.length; i += 2)
      if (String(headers[i]).toLowerCase() === 'set-cookie') this.take(String(headers[i + 1]))
    const csrf: unknown = answer.body?.account?.csrf ?? answer.body?.operator?.csrf
    if (typeof csrf === 'string') this.csrf = csrf
    return answer
  }
  private take(line: string): void {
    const [name, value] = line.split(';')[0]!.split('=') as [string, string]
    if (line.includes('Max-Age=0')) this.cookies.delete(name)
    else this.cookies.set(name, value)
  }
  post(path: string, body: unknown = {}): Promise<Answer> {
    return this.call('POST', path, body)
  }
}
const code = (secret: string, off = 0): string => codeAt(secret, Date.now() / 1000 + 30 * off)
const nameOf = ({ n }: Stage): string => `person_${n[0]!}`

/** People who sign in to the console: accounts, and operators who do there what they do elsewhere. */
export const PEOPLE_SCENES: Readonly<Record<string, Scene>> = {
  'somebody signs up, and in': async (stage) => {
    const [name, person] = [nameOf(stage), new Person(stage)]
    const { body } = await person.post('/v1/sign-up', { name, password: PASSWORD })
    await stage.operate('POST', `/users/${body.account.user_id}/credit`, { currency: 'USDT', amount: '1000' })
    await person.post('/api/v4/spot/orders', {
      currency_pair: 'ETH_USDT',
      side: 'buy',
      amount: '0.01',
      price: stage.index('ETH', 0.9),
    })
    const key = { name: 'own', mode: 1, perms: [{ name: 'spot' }], ip_whitelist: [] }
    const { body: made } = await person.post('/v1/keys', key)
    await person.call('PUT', `/v1/keys/${made.key}`, { ...key, name: 'other' })
    await person.call('DELETE', `/v1/keys/${made.key}`)
    const { body: saved } = await person.post('/v1/addresses', TRON)
    await person.call('DELETE', `/v1/addresses/${saved.id}`)
    const again = new Person(stage)
    await again.post('/v1/sign-in', { kind: 'account', name, password: 'not this one' })
    await again.post('/v1/sign-in', { kind: 'account', name, password: PASSWORD })
    await again.post('/v1/elevate', { password: PASSWORD })
    await again.post('/v1/password', { current: PASSWORD, next: `${PASSWORD} staple` })
    await person.call('GET', '/api/v4/account/detail')
    await again.post('/v1/sign-out')
  },
  'a second factor': async (stage) => {
    const [name, person] = [nameOf(stage), new Person(stage)]
    await person.post('/v1/sign-up', { name, password: PASSWORD })
    const { body } = await person.post('/v1/factor')
    const { body: on } = await person.post('/v1/factor/confirm', { code: code(body.secret as string) })
    const again = new Person(stage)
    const credentials = { kind: 'account', name, password: PASSWORD }
    await again.post('/v1/sign-in', credentials)
    await again.post('/v1/sign-in', { ...credentials, code: code(body.secret as string, 1) })
    await again.call('DELETE', '/v1/factor', { code: on.recovery_codes[0] })
  },
  'a link into the console': async (stage) => {
    const guest = await stage.guest({ USDT: '100' })
    const link = await stage.operate('POST', `/users/${guest.user}/console_link`, {})
    const person = new Person(stage)
    await person.post('/v1/enter', { token: link.body.token })
    // A page that is open for some minutes of the real time: told when the platform stops next.
    const undo = plant(Date, 'now', (now) => () => now() + OPEN_MS)
    await person.call('GET', '/v1/sessions').finally(undo)
    await new Person(stage).post('/v1/enter', { token: link.body.token })
    const own = await stage.operate('POST', '/console_links', {})
    const operator = new Person(stage)
    await operator.post('/v1/enter', { token: own.body.token })
    await operator.post(`/operator/v1/users/${guest.user}/credit`, { currency: 'USDT', amount: '5' })
    await operator.post('/v1/sign-out')
  },
}
