import { ConfigError } from '../config.ts'
import { drive } from './operator-api.ts'

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 }
interface ClockReply {
  readonly now: number
  readonly offset_seconds: number
  readonly due_failed?: number
}

export const clock = drive({
  usage: 'kontor clock [+1d | +2h30m | +90s | TIME] [--json]',
  summary: "shows or moves the sandbox's clock",
  detail: `Shows the platform's clock, or moves it forward: by +90s, +15m, +2h, +1d, +1w (or several: +1d12h), or to a TIME: Unix
seconds, or a date such as 2031-01-31 or 2031-01-31T08:00 (UTC unless it names a zone).
Everything that is due in between happens, in order, before the command ends.`,
  words: [0, 1],
  run: async (api, { words }) => {
    const reply = await (words[0] === undefined
      ? api.get<ClockReply>('/clock')
      : api.call<ClockReply>('POST', '/clock', moveOf(words[0])))
    const { now, offset_seconds, due_failed = 0 } = reply
    const failed =
      due_failed === 0
        ? ''
        : `\n${due_failed} items of due work failed on the way; GET /operator/v1/due lists them`
    const text = `${new Date(now * 1000).toISOString()} (${now}), ${distance(offset_seconds)}${failed}`
    return { json: reply, text }
  },
})

/** What the words ask of POST /clock. */
export function moveOf(word: string): { advance_seconds: number } | { now: number } {
  if (/^\+(\d+(\.\d+)?[smhdw])+$/.test(word)) {
    const parts = [...word.matchAll(/(\d+(?:\.\d+)?)([smhdw])/g)]
    return { advance_seconds: parts.reduce((sum, [, n, unit]) => sum + Number(n) * UNITS[unit!]!, 0) }
  }
  if (/^\+\d+(\.\d+)?$/.test(word)) return { advance_seconds: Number(word) }
  if (/^\d{9,11}(\.\d+)?$/.test(word)) return { now: Number(word) }
  const date = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?(Z|[+-]\d\d:\d\d)?$/.exec(word)
  const at = date === null ? NaN : Date.parse(`${date[1]!}T${date[2] ?? '00:00'}${date[3] ?? 'Z'}`)
  if (Number.isNaN(at))
    throw new ConfigError(
      `"${word}" must be a step such as +1d, +2h or +90s, or a time such as 2031-01-31T08:00`,
    )
  return { now: at / 1000 }
}
function distance(seconds: number): string {
  if (Math.abs(seconds) < 0.5) return 'the wall clock'
  const whole = Math.round(Math.abs(seconds))
  const parts = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3_600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'm'],
    [whole % 60, 's'],
  ] as const
  const words = parts.filter(([n]) => n > 0).map(([n, unit]) => `${n}${unit}`)
  return `${words.join(' ')} ${seconds > 0 ? 'ahead of' : 'behind'} the wall clock`
}
