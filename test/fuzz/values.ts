import type { Random } from '../sim/random.ts'

/** Text that stands in the JSON as it is: what no serializer would write. */
export class Raw {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
/** A member twice, which JSON allows and most forget. */
export class Twice {
  readonly first: unknown
  readonly second: unknown
  constructor(first: unknown, second: unknown) {
    this.first = first
    this.second = second
  }
}
export function jsonText(value: unknown): string {
  if (value instanceof Raw) return value.text
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`
  if (value === undefined) return 'null'
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.entries(value).flatMap(([name, member]): string[] =>
    member instanceof Twice
      ? [member.first, member.second].map((one) => `${JSON.stringify(name)}:${jsonText(one)}`)
      : [`${JSON.stringify(name)}:${jsonText(member)}`],
  )
  return `{${members.join(',')}}`
}

/** What no field expects, as a text. */
export const HOSTILE_TEXTS: readonly string[] = [
  ...[
    '',
    ' ',
    '\t',
    '\u0000',
    'a\u0000b',
    'BTC\n',
    '\r\nX-Injected: 1',
    '\u007f',
    '\u0085',
    '\u2028',
    '\ufeffBTC',
  ],
  ...[
    '0',
    '-0',
    '-1',
    '+1',
    '01',
    '1.',
    '.5',
    '1..2',
    '0x10',
    '0b1',
    '1_000',
    '1,000',
    '1 000',
    '1e5',
    '1E5',
    '1e999',
  ],
  ...[
    '1e-999',
    'NaN',
    'Infinity',
    '-Infinity',
    '١٢',
    '１２３',
    '٫5',
    '9'.repeat(20),
    '9'.repeat(40),
    '-9223372036854775809',
  ],
  ...[
    '18446744073709551616',
    '9007199254740993',
    `0.${'0'.repeat(17)}1`,
    `0.${'0'.repeat(39)}1`,
    '0.0000000000000000001',
  ],
  ...[
    `${'9'.repeat(20)}.${'9'.repeat(18)}`,
    '0.'.padEnd(300, '1'),
    '1'.padEnd(5_000, '0'),
    '999999999999999',
    '1000000000000000',
  ],
  ...[
    'true',
    'null',
    'undefined',
    '[]',
    '{}',
    '[object Object]',
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'valueOf',
  ],
  ...[
    'hasOwnProperty',
    '\ud800',
    'a\udfffb',
    '\u202eTDSU',
    'é',
    'e\u0301',
    '💰💰',
    'ﬀ',
    'İ',
    'ß',
    '\u200b',
    'K',
  ],
  ...[
    '%',
    '%00',
    '%zz',
    '%c0%ae',
    '..',
    '../../etc/passwd',
    '..%2f',
    'a/b',
    'a?b',
    'a#b',
    'a&b=c',
    'a=b',
    "' or 1=1 --",
    '";',
  ],
  ...[
    '${7*7}',
    '{{7*7}}',
    '<script>',
    'x'.repeat(65),
    'x'.repeat(257),
    'é'.repeat(300),
    'x'.repeat(20_000),
    '!all',
    '*',
    '_',
  ],
  ...[
    'BTC_',
    '_USDT',
    'BTC_USDT_',
    'btc_usdt',
    'BTC_BTC',
    'USDT_BTC_USDT',
    't-',
    't-é',
    `t-${'x'.repeat(64)}`,
    'apiv4-ws',
    ',',
  ],
  ...[
    ',,,',
    '1,1,1',
    '1,2,x',
    Array.from({ length: 300 }, (_, i) => i + 1).join(','),
    '2026-01-01',
    '1794758736123456',
    '-62135596801',
  ],
]
const deep = (levels: number, open = '[', close = ']'): Raw =>
  new Raw(`${open.repeat(levels)}${open === '[' ? '' : '1'}${close.repeat(levels)}`)
/** The same as JSON. */
const HOSTILE_JSON: readonly unknown[] = [
  ...[
    0,
    -1,
    1,
    1.5,
    0.1,
    1e21,
    1e-7,
    2 ** 31,
    2 ** 53,
    -(2 ** 53),
    1e15,
    true,
    false,
    null,
    [],
    {},
    [[]],
    [null],
    [{}],
    [[], {}],
  ],
  ...[
    '1e999',
    '-1e999',
    '1e-999',
    '-0',
    '-0.0',
    '9'.repeat(40),
    '9007199254740993',
    '0.30000000000000000004',
    '1E400',
  ].map((text) => new Raw(text)),
  ...[
    '{"__proto__":{"polluted":1}}',
    '{"constructor":{"prototype":{"polluted":1}}}',
    '{"toString":1,"valueOf":2}',
    '{"":""}',
  ].map((text) => new Raw(text)),
  ...[
    '{"length":99999999}',
    '{"then":1}',
    '{"toJSON":1}',
    '"\\ud800"',
    '"\\u0000"',
    '{"0":1,"1":2,"length":2}',
  ].map((text) => new Raw(text)),
  ...[deep(3), deep(63), deep(64), deep(65), deep(3_000), deep(40, '{"a":', '}'), deep(2_000, '{"a":', '}')],
  ...[
    Array.from({ length: 200 }, () => 1),
    Array.from({ length: 1_100 }, () => ({})),
    Array.from({ length: 20 }, () => 'BTC_USDT'),
  ],
]
export const hostileText = (random: Random): string => random.pick(HOSTILE_TEXTS)
export function hostileJson(random: Random): unknown {
  if (random.chance(0.5)) return hostileText(random)
  const value = random.pick(HOSTILE_JSON)
  // Whoever gets it may spoil it further.
  return value instanceof Raw ? value : structuredClone(value)
}
export const HOSTILE_NAMES: readonly string[] = [
  ...[
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    '',
    ' ',
    'a.b',
    'a[0]',
    '\u0000',
    '\ud800',
    'é',
  ],
  ...[
    'id',
    'user_id',
    'operator',
    'actor',
    'account',
    'x'.repeat(3_000),
    'length',
    'then',
    'currency ',
    'Currency',
  ],
]
