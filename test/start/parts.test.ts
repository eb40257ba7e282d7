import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Parts, type Part } from '../../src/runtime/parts.ts'

function told(mayWrite = true, failing?: string): { parts: Parts; take: () => string; mend: () => void } {
  const heard: string[] = []
  const part = (name: string, rest: Pick<Part, 'until' | 'again' | 'writes'>): Part => ({
    name,
    start: async () => {
      heard.push(`+${name}`)
      await Promise.resolve()
      if (name === failing) throw new Error('no')
    },
    stop: () => void heard.push(`-${name}`),
    ...rest,
  })
  const list = [
    part('watch', { until: 'shut' }),
    part('chains', { until: 'answered', again: true, writes: true }),
    part('ticker', { until: 'shut', again: true, writes: true }),
    part('head', { until: 'written' }),
    part('disk', { until: 'written', again: true }),
  ]
  return {
    parts: new Parts(list, () => mayWrite),
    take: () => heard.splice(0).join(' '),
    mend: () => (mayWrite = true),
  }
}

test('parts start in order, and stop in reverse, stage by stage, each once', async () => {
  const { parts, take } = told()
  await parts.start()
  assert.equal(take(), '+watch +chains +ticker +head +disk')
  const stopped = parts.stop('shut')
  assert.equal(take(), '-ticker -watch', 'in one turn')
  await stopped
  await parts.stop('answered')
  assert.equal(take(), '-chains')
  await parts.stop()
  assert.equal(take(), '-disk -head')
  await parts.stop()
  assert.equal(take(), '')
})
test('a reset stops and starts what has another world after it; a stop that came first ends those as well', async () => {
  const { parts, take } = told()
  await parts.start()
  take()
  await parts.pause()
  assert.equal(take(), '-disk -ticker -chains')
  await parts.stop('shut')
  await parts.resume()
  assert.equal(take(), '-watch +chains +ticker +disk')
  await parts.stop('answered')
  assert.equal(take(), '-ticker -chains')
})
test('a start that fails leaves nothing running, not even half of the part that failed', async () => {
  const { parts, take } = told(true, 'ticker')
  await assert.rejects(parts.start(), /no/)
  assert.equal(take(), '+watch +chains +ticker -ticker -watch -chains')
})
test('nothing that writes is started where nothing may be written', async () => {
  const { parts, take, mend } = told(false)
  await parts.start()
  assert.equal(take(), '+watch +head +disk')
  await parts.pause()
  mend()
  await parts.resume()
  assert.equal(take(), '-disk +chains +ticker +disk')
})
