import { ConfigError } from '../config.ts'
import { stepOf, timeOf } from '../worlds/moments.ts'
import { drive } from './operator-api.ts'

interface ClockReply {
  readonly now: number
  readonly offset_seconds: number
  readonly due_failed?: number
}

export const clock = drive({
  usage: 'kontor clock [+1d | +2h30m | +90s | TIME] [--json]',
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
  try {
    return word.startsWith('+') ? { advance_seconds: stepOf(word) } : { now: timeOf(word) }
  } catch (error) {
    throw new ConfigError(
      `"${word}" must be a step such as +1d, +2h or +90s, or a time such as 2031-01-31T08:00`,
      { cause: error },
    )
  }
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
