import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { codeAt, stepAt } from '../../src/console/totp.ts'
import { ok } from '../support/client.ts'
import { Browser } from '../support/console.ts'
import { PlatformProcess, kontor } from '../support/process.ts'

const PASSWORD = 'correct horse battery'
/** Of the next step: the present one was used. */
const nextCode = (secret: string): string => codeAt(secret, stepAt(Date.now() / 1000) + 1)

test('links of the start and of the command line; a factor lives on under a new secret key, and all of it is replayed', async () => {
  const data = mkdtempSync(join(tmpdir(), 'kontor-console-'))
  const env = { KONTOR_DATA: data }
  let platform = await PlatformProcess.start(env)
  const printed = [...platform.output.matchAll(/ as (\w+) +(http:\S+)\/enter#([0-9a-f]{64})$/gm)]
  assert.deepEqual(
    printed.map(([, whose, url]) => [whose, url]),
    [
      ['demo', platform.url],
      ['operator', platform.url],
    ],
  )
  const browser = new Browser(platform.url)
  for (const [, , , token] of printed) ok(await browser.post('/v1/enter', { token }))
  const session = await browser.ok('GET', '/v1/session')
  assert.deepEqual([session.account.name, session.operator.name], ['demo', 'admin'])

  const entered = async (whose: string): Promise<{ account: { name: string } | null }> => {
    const { code: status, output, errors } = await kontor(['console-link', whose, '--data', data])
    assert.equal(status, 0, errors)
    const token = /\/enter#([0-9a-f]{64})\n$/.exec(output)![1]!
    const reply = await new Browser(platform.url).ok('POST', '/v1/enter', { token })
    return reply as { account: { name: string } | null }
  }
  assert.equal((await entered('demo')).account!.name, 'demo')
  assert.equal((await entered('operator')).account, null)
  assert.equal((await kontor(['console-link', 'nobody', '--data', data])).code, 1)

  const name = 'keeper'
  const person = new Browser(platform.url)
  await person.ok('POST', '/v1/sign-up', { name, password: PASSWORD })
  const { secret } = await person.ok('POST', '/v1/factor', {})
  await person.ok('POST', '/v1/factor/confirm', {
    code: codeAt(secret as string, stepAt(Date.now() / 1000)),
  })
  await person.ok('POST', '/v1/keys', { name: 'k' })
  await person.ok('POST', '/v1/sign-out')
  await platform.kill('SIGTERM')

  const rotated = await kontor(['rotate-key', '--data', data])
  assert.equal(rotated.code, 0, rotated.errors)
  assert.doesNotMatch(rotated.output, /could not be opened/)
  const replayed = await kontor(['replay', '--data', data])
  assert.equal(replayed.code, 0, replayed.output + replayed.errors)
  assert.match((await kontor(['verify', '--data', data])).output, /^balanced/m)
  platform = await PlatformProcess.start(env)
  const back = new Browser(platform.url)
  const body = { kind: 'account', name, password: PASSWORD, code: nextCode(secret as string) }
  assert.equal((await back.ok('POST', '/v1/sign-in', body)).account.factor, true)
  await platform.kill('SIGTERM')
  rmSync(data, { recursive: true, force: true })
})
