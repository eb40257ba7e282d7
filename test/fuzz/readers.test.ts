import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  anyObject,
  decimal,
  flag,
  id,
  integer,
  listOf,
  number,
  object,
  oneOf,
  optional,
  readFields,
  strict,
  text,
  time,
  withDefault,
  type Field,
} from '../../src/api/fields.ts'
import { decodeSegment, parseQuery } from '../../src/api/passage.ts'
import { bodyDigest, sign, signatureString, verifySignature } from '../../src/api/signature.ts'
import { Channel, type Head } from '../../src/gateway/channel.ts'
import { accepts, addressBlock, isJsonType, parseJson, tooDeep } from '../../src/http/words.ts'
import { Refusal } from '../../src/labels.ts'
import { format, parseAmount } from '../../src/money/amount.ts'
import { BrokenFrame, readRequest } from '../../src/sockets/envelope.ts'
import { productOf } from '../../src/sockets/paths.ts'
import { cookiesNamed } from '../../src/console/cookies.ts'
import { HOSTILE_TEXTS } from './values.ts'

/** The readers for themselves: whatever comes is read rightly, or refused in words; nothing else ever happens. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 2_000)
const holds = <T extends [unknown, ...unknown[]]>(property: fc.IProperty<T>, numRuns = RUNS): void => {
  fc.assert(property, { numRuns })
}
const hostile = fc.constantFrom(...HOSTILE_TEXTS)
const anyText = fc.oneof(hostile, fc.string({ unit: 'binary', maxLength: 40 }), fc.string({ maxLength: 20 }))
/** What it does is an answer or a refusal. */
function answers<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error))
    assert.ok(
      error.message.length > 0 && error.message.length < 2_000,
      `a message of ${error.message.length}`,
    )
    return undefined
  }
}

describe('signatures', () => {
  /** Pieces out of which queries with every kind of border are made. */
  const piece = fc.constantFrom(
    'a',
    'b',
    '=',
    '&',
    '%3D',
    '%26',
    '%25',
    '%3d',
    '+',
    '%20',
    '%2B',
    '%C3%A9',
    '%',
    '%zz',
    '1',
    'é',
  )
  const query = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(''))
  const parts = fc.record({
    method: fc.constantFrom('GET', 'POST', 'DELETE'),
    path: fc.constantFrom('/api/v4/spot/orders', '/api/v4/wallet/transfers'),
    query,
    bodyDigest: fc.constant(bodyDigest(Buffer.from('{}'))),
    timestamp: fc.integer({ min: 1, max: 2_000_000_000 }).map(String),
  })
  test('what was signed fits, and nothing that differs in any part does', () =>
    holds(
      fc.property(parts, parts, fc.string(), (one, other, secret) => {
        const made = sign(secret, signatureString(one))
        assert.ok(verifySignature(secret, one, made))
        assert.ok(verifySignature(secret, one, made.toUpperCase()))
        assert.ok(!verifySignature(`${secret}x`, one, made))
        for (const name of ['method', 'path', 'timestamp'] as const)
          if (one[name] !== other[name])
            assert.ok(!verifySignature(secret, { ...one, [name]: other[name] }, made), name)
        assert.ok(!verifySignature(secret, { ...one, bodyDigest: bodyDigest(undefined) }, made))
      }),
    ))
  test('a query that was signed in another form asks for the same parameters', () =>
    holds(
      fc.property(query, query, (sent, signed) => {
        const base = { method: 'GET', path: '/', bodyDigest: '', timestamp: '1' }
        const made = sign('s', signatureString({ ...base, query: signed }))
        if (sent === signed || !verifySignature('s', { ...base, query: sent }, made)) return
        // As the signer wrote it: borders first, and nothing in it is encoded any more.
        const meant = signed.split('&').map((part) => [part.split('=')[0], part.slice(part.indexOf('=') + 1)])
        const read = sent.split('&').map((part) => {
          const at = part.indexOf('=')
          return [at === -1 ? part : part.slice(0, at), at === -1 ? part : part.slice(at + 1)]
        })
        assert.equal(read.length, meant.length)
        const plain = (text: string): string[] => [
          ...new Set(
            [safe(text), safe(text.replaceAll('+', '%20')), latin(text)].filter((form) => form !== undefined),
          ),
        ]
        for (const [i, [name, value]] of read.entries()) {
          assert.ok(plain(name!).includes(meant[i]![0]!), `${sent} was signed as ${signed}`)
          assert.ok(plain(value!).includes(meant[i]![1]!), `${sent} was signed as ${signed}`)
        }
      }),
      RUNS * 5,
    ))
  const safe = (text: string): string | undefined => {
    try {
      return decodeURIComponent(text)
    } catch {
      return undefined
    }
  }
  const latin = (text: string): string =>
    text.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  test('a signature that is none is none, whatever it is', () =>
    holds(
      fc.property(parts, anyText, (one, given) => {
        assert.equal(
          verifySignature('s', one, given),
          given.toLowerCase() === sign('s', signatureString(one)),
        )
      }),
    ))
})

describe('decimals', () => {
  const digits = fc
    .array(fc.constantFrom(...'0 1 2 3 4 5 6 7 8 9 . - + e E , _ x ٣'.split(' '), ' '), { maxLength: 45 })
    .map((all) => all.join(''))
  test('a text is a decimal of so many digits, or none; and what is read is written again', () =>
    holds(
      fc.property(fc.oneof(digits, anyText), (given) => {
        const value = parseAmount(given)
        const right = /^[0-9]{1,20}(\.[0-9]{1,18})?$/.test(given)
        assert.equal(value !== undefined, right, JSON.stringify(given))
        if (value === undefined) return
        const [whole, fraction = ''] = given.split('.') as [string, string?]
        const trimmed = `${whole.replace(/^0+(?=\d)/, '')}.${fraction}`.replace(/\.?0*$/, (end) =>
          end.startsWith('.') || given.includes('.') ? '' : end,
        )
        assert.equal(format(value), given.includes('.') ? trimmed : whole.replace(/^0+(?=\d)/, ''))
        assert.equal(parseAmount(format(value)), value)
      }),
      RUNS * 3,
    ))
  test('the field reads what the core reads', () =>
    holds(
      fc.property(fc.oneof(digits, anyText), (given) => {
        const read = answers(() => decimal().read(given, 'amount'))
        assert.equal(read !== undefined, parseAmount(given) !== undefined)
      }),
    ))
})

describe('JSON and fields', () => {
  const every: Readonly<Record<string, Field<unknown>>> = {
    text: optional(text({ max: 20 })),
    integer: optional(integer(-5, 1_000)),
    number: optional(number(0, 10)),
    decimal: optional(decimal()),
    id: optional(id()),
    time: optional(time()),
    flag: withDefault(flag(), false),
    word: optional(oneOf('a', 'b')),
    list: optional(listOf(integer(0, 9), 5)),
    inner: optional(object({ text: text(), strict: optional(strict({ a: optional(text()) })) })),
    any: optional(anyObject()),
    constructor: optional(text()),
  }
  const names = fc.constantFrom(...Object.keys(every), '__proto__', 'prototype', 'toString', 'unknown', '')
  const json = fc.oneof(
    fc.jsonValue({ maxDepth: 4 }),
    fc.dictionary(
      names,
      fc.oneof(fc.jsonValue({ maxDepth: 3 }), anyText, fc.double(), fc.bigInt().map(Number)),
    ),
  )
  test('any bytes are a value or a refusal', () =>
    holds(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          anyText.map((one) => Buffer.from(one)),
        ),
        (bytes) => {
          answers(() => parseJson(Buffer.from(bytes)))
        },
      ),
    ))
  test('what JSON says is read as it says it, unless it is nested too deep', () =>
    holds(
      fc.property(json, fc.integer({ min: 0, max: 80 }), (value, levels) => {
        const written = `${'['.repeat(levels)}${JSON.stringify(value)}${']'.repeat(levels)}`
        const read = answers(() => parseJson(Buffer.from(written)))
        const parsed: unknown = JSON.parse(written)
        if (read === undefined) assert.ok(tooDeep(parsed), written.slice(0, 200))
        else assert.deepEqual(read.value, parsed)
      }),
    ))
  test('of more than was asked for the beginning is read, and it is said that there is more', () =>
    holds(
      fc.property(json, fc.integer({ min: 0, max: 2_000 }), (value, commas) => {
        const list = Array.from({ length: 1_000 }, (_, i) => (i % 3 === 0 ? value : { [`a,"[${i}`]: [i, i] }))
        const written = JSON.stringify(list)
        const read = answers(() => parseJson(Buffer.from(written), commas))
        if (read === undefined) return
        const items = read.value as unknown[]
        const commasIn = (text: string): number => text.replace(/"(\\.|[^"\\])*"/g, '').split(',').length - 1
        assert.equal(read.more, commasIn(written) > commas)
        assert.equal(commasIn(JSON.stringify(items)), Math.min(commas, commasIn(written)))
        assert.deepEqual(items.slice(0, -1), (JSON.parse(written) as unknown[]).slice(0, items.length - 1))
      }),
    ))
  test('however deep, it is refused and nothing overflows', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
      ['[{"a":', '}]'],
    ] as const)
      for (const levels of [65, 1_000, 100_000])
        assert.equal(
          answers(() => parseJson(Buffer.from(`${open.repeat(levels)}1${close.repeat(levels)}`))),
          undefined,
        )
  })
  test('fields give what is declared, of own members alone, and reading twice is reading once', () =>
    holds(
      fc.property(json, fc.boolean(), (value, known) => {
        const parsed = JSON.parse(JSON.stringify(value)) as unknown
        const source =
          parsed !== null && typeof parsed === 'object' ? (parsed as Record<string, unknown>) : {}
        const read = answers(() => readFields(every, source, '', known ? () => undefined : undefined))
        if (read === undefined) return
        assert.deepEqual(Object.keys(read), Object.keys(every))
        assert.equal(Object.getPrototypeOf(read), Object.prototype)
        for (const name of Object.keys(every))
          if (!Object.hasOwn(source, name)) assert.ok(read[name] === null || read[name] === false, name)
        const given = Object.fromEntries(Object.entries(read).filter(([, one]) => one !== null))
        assert.deepEqual(
          answers(() => readFields(every, given)),
          read,
        )
      }),
    ))
  test('queries and parts of a path: doubled names become a list, and no name is special', () =>
    holds(
      fc.property(fc.array(fc.tuple(fc.oneof(names, anyText), anyText), { maxLength: 8 }), (pairs) => {
        const raw = pairs
          .map(
            ([name, value]) =>
              `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`,
          )
          .join('&')
        const query = parseQuery(raw)
        for (const [name] of pairs) {
          const values = pairs
            .filter(([other]) => other.toWellFormed() === name.toWellFormed())
            .map(([, value]) => value.toWellFormed())
          if (raw !== '') assert.equal(query[name.toWellFormed()], values.join(','))
        }
        assert.ok(!('polluted' in {}))
      }),
    ))
  test('what stands in a head or a path is read, or refused', () =>
    holds(
      fc.property(anyText, (given) => {
        answers(() => decodeSegment('id', given))
        assert.equal(typeof accepts(given, 'application/json'), 'boolean')
        assert.equal(typeof isJsonType(given), 'boolean')
        assert.equal(typeof addressBlock(given), 'string')
        assert.ok(Array.isArray(cookiesNamed(given, 'kontor_session')))
        productOf(given)
      }),
    ))
})

describe('frames', () => {
  const frame = fc.oneof(
    anyText,
    fc.json(),
    fc
      .record(
        {
          time: fc.jsonValue(),
          id: fc.jsonValue(),
          channel: fc.oneof(anyText, fc.jsonValue()),
          event: fc.oneof(fc.constantFrom('subscribe', 'api'), fc.jsonValue()),
          payload: fc.jsonValue(),
          auth: fc.jsonValue(),
        },
        { requiredKeys: [] },
      )
      .map((one) => JSON.stringify(one)),
  )
  test('of a socket: a request with a channel and an id that can be echoed, or a broken one', () =>
    holds(
      fc.property(frame, (given) => {
        try {
          const { channel, id: named } = readRequest(given)
          assert.ok(typeof channel === 'string' && channel !== '')
          assert.ok(named === undefined || String(named).length <= 64)
        } catch (error) {
          assert.ok(error instanceof BrokenFrame, String(error))
          assert.ok(error.message.length < 400)
        }
      }),
    ))

  /** What comes out at the other end of a channel, and why it ended. */
  async function through(
    chunks: readonly Uint8Array[],
  ): Promise<{ messages: [Head, string | undefined][]; ended: string[] }> {
    const messages: [Head, string | undefined][] = []
    const ended: string[] = []
    const stream = new PassThrough()
    // What is not read of a stream that is destroyed is an error of nobody.
    const channel = new Channel(
      stream,
      { message: (head, body) => messages.push([head, body?.toString()]), closed: (why) => ended.push(why) },
      { frameMax: 1_000_000, unsentMax: 1_000_000 },
    )
    for (const chunk of chunks) if (!channel.closed) stream.write(chunk)
    await new Promise((resolve) => setImmediate(resolve))
    channel.close('the end')
    return { messages, ended }
  }
  const bytesOf = (heads: unknown, texts: string): Buffer => {
    const json = JSON.stringify(heads)
    const prefix = Buffer.alloc(8)
    prefix.writeUInt32LE(4 + Buffer.byteLength(json) + Buffer.byteLength(texts), 0)
    prefix.writeUInt32LE(Buffer.byteLength(json), 4)
    return Buffer.concat([prefix, Buffer.from(json), Buffer.from(texts)])
  }
  const cut = (bytes: Buffer, places: readonly number[]): Buffer[] => {
    const at = [...new Set([0, ...places.map((place) => place % (bytes.length + 1)), bytes.length])].sort(
      (a, b) => a - b,
    )
    return at.slice(1).map((end, i) => bytes.subarray(at[i], end))
  }
  test('of a gateway: messages arrive as they were sent, however the bytes are cut', async () => {
    const message = fc.tuple(
      fc.nat(30),
      fc.option(
        fc.string({ unit: 'binary', maxLength: 30 }).map((one) => one.toWellFormed()),
        { nil: undefined },
      ),
      fc.jsonValue(),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(message, { minLength: 1, maxLength: 4 }), { maxLength: 4 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        async (frames, places) => {
          const bytes = frames.map((all) =>
            bytesOf(
              all.map(([kind, body, rest]) => [
                kind,
                body === undefined ? -1 : Buffer.byteLength(body),
                rest,
              ]),
              all.map(([, body]) => body ?? '').join(''),
            ),
          )
          const { messages, ended } = await through(cut(Buffer.concat(bytes), places))
          assert.deepEqual(ended, ['the end'])
          assert.deepEqual(
            messages.map(([head, body]) => [head[0], body, head[2]]),
            frames.flat().map(([kind, body, rest]) => [kind, body, JSON.parse(JSON.stringify(rest))]),
          )
        },
      ),
      { numRuns: RUNS / 4 },
    )
  })
  test('of a gateway: texts are as long as their heads say, or it ends', async () => {
    for (const length of [-1, 0, 2, 3, 4, 1_000_000, 1.5, -2]) {
      const { ended } = await through([bytesOf([[1, length]], 'abc')])
      assert.equal(ended[0] === 'the end', length === 3, `${length}: ${ended.join()}`)
    }
  })
  test('of a gateway: bytes that are no frame end it once, and nothing is thrown', async () => {
    const spoilt = fc
      .tuple(fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 }), fc.jsonValue())
      .map(([changes, rest]) => {
        const bytes = bytesOf([[1, 3, rest]], 'abc')
        for (const [place, value] of changes) bytes[place % bytes.length] = value
        return bytes
      })
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.uint8Array({ maxLength: 100 }), spoilt),
        fc.array(fc.nat(), { maxLength: 4 }),
        async (bytes, places) => {
          const { ended } = await through(cut(Buffer.from(bytes), places))
          assert.equal(ended.length, 1)
        },
      ),
      { numRuns: RUNS / 2 },
    )
  })
})
