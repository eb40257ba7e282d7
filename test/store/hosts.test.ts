import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigError, readConfig } from '../../src/config.ts'
import { urlHoldsPassword } from '../../src/config-secrets.ts'
import { Preference, firstOf, serverOf, targetsOf, type NoServer } from '../../src/store/postgres-hosts.ts'

describe('servers in a URL', () => {
  test('one is asked by the URL as it stands', () => {
    for (const url of [
      'postgresql://u:p%40@a:5432/db?sslmode=require',
      'postgres://a/db',
      'postgresql://postgres@localhost/db?host=%2Ftmp%2Fpg',
      'postgresql:///db',
    ])
      assert.deepEqual(targetsOf(url), { urls: [url], wanted: 'any' })
  })
  test('several are asked one by one, and the one that takes writes is wanted', () => {
    assert.deepEqual(
      targetsOf('postgresql://u:p@a:5432,[::1]:5433,c/db?target_session_attrs=read-write&sslmode=require'),
      {
        urls: [
          'postgresql://u:p@a:5432/db?sslmode=require',
          'postgresql://u:p@[::1]:5433/db?sslmode=require',
          'postgresql://u:p@c/db?sslmode=require',
        ],
        wanted: 'primary',
      },
    )
    assert.equal(targetsOf('postgresql://a,b/db').wanted, 'primary')
    assert.deepEqual(targetsOf('postgresql://u@x/db?host=%2Ftmp%2Fa%20b,%2Ftmp%2Fc&port=5432,5433'), {
      urls: [
        'postgresql://u@x/db?host=%2Ftmp%2Fa%20b&port=5432',
        'postgresql://u@x/db?host=%2Ftmp%2Fc&port=5433',
      ],
      wanted: 'primary',
    })
    const one = targetsOf('postgresql://a/db?target_session_attrs=primary')
    assert.deepEqual(one, { urls: ['postgresql://a/db'], wanted: 'primary' })
    assert.equal(serverOf('postgresql://u:secret@a:5432/db'), 'a:5432')
  })
  test('the first that will do is taken, a silent one is not waited for, and others are let go', async () => {
    const targets = targetsOf('postgresql://silent,bad,good/db')
    const released: string[] = []
    let say: (server: string) => void = () => undefined
    const attempt = (url: string): Promise<string> => {
      const server = serverOf(url)
      if (server === 'silent') return new Promise((resolve) => (say = resolve))
      return server === 'bad' ? Promise.reject(new Error('bad')) : Promise.resolve(server)
    }
    const release = (other: string): void => void released.push(other)
    const began = performance.now()
    const preference = new Preference()
    assert.equal(await firstOf(targets, attempt, release, preference), 'good')
    assert.ok(performance.now() - began < 8_000)
    say('silent')
    await new Promise(setImmediate)
    assert.deepEqual(released, ['silent'])
    assert.equal(preference.place, 2, 'and is asked first from then on')
    let asked = 0
    const counted = (url: string): Promise<string> => {
      asked++
      return attempt(url)
    }
    assert.equal(await firstOf(targets, counted, release, preference), 'good')
    assert.equal(asked, 1)
    await assert.rejects(
      firstOf(targets, (url) => Promise.reject(new Error(serverOf(url))), release),
      (error: NoServer) => {
        assert.deepEqual(error.faults.map(({ server }) => server).sort(), ['bad', 'good', 'silent'])
        return true
      },
    )
  })
  test('a mistake is one line, without the password', () => {
    const wrong = (env: Record<string, string>, says: RegExp): void =>
      assert.throws(
        () => readConfig(env),
        (error: Error) => {
          assert.ok(error instanceof ConfigError)
          assert.match(error.message, says)
          assert.doesNotMatch(error.message, /hunter2|\n/)
          return true
        },
      )
    wrong({ KONTOR_DATABASE_URL: 'postgres://u:hunter2@a,/db' }, /^KONTOR_DATABASE_URL names a server/)
    wrong(
      { KONTOR_DATABASE_URL: 'postgres://u:hunter2@a/db?target_session_attrs=standby' },
      /^KONTOR_DATABASE_URL target_session_attrs must be read-write or primary/,
    )
    wrong({ KONTOR_READ_URLS: 'postgres://u:hunter2@a/db,b' }, /^KONTOR_READ_URLS must be URLs by comma/)
    const read = readConfig({ KONTOR_READ_URLS: 'postgres://a/db, postgres://b/db' })
    assert.deepEqual(read.readUrls, ['postgres://a/db', 'postgres://b/db'])
    assert.ok(urlHoldsPassword('postgresql://u:p@a:1,b:2/db'))
    assert.ok(urlHoldsPassword('postgresql://u@a,b/db?password=x'))
    assert.ok(!urlHoldsPassword('postgresql://u@a:1,b:2/db'))
  })
})
