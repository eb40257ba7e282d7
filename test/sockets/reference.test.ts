import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CALL_CHANNELS } from '../../src/sockets/call-channels.ts'
import { CHANNELS } from '../../src/sockets/channels.ts'
import { TestPlatform } from '../support/platform.ts'

test('/docs lists every channel and call that is served, and every link on it leads somewhere', async () => {
  const platform = await TestPlatform.start()
  try {
    const html = await (await fetch(`${platform.url}/docs`)).text()
    const names = [...CHANNELS.map(({ name }) => name), ...CALL_CHANNELS.map(({ channel }) => channel)]
    for (const name of names) assert.equal(html.split(`<article id="${name}"`).length, 2, name)
    const { channels } = (await (await fetch(`${platform.url}/asyncapi.json`)).json()) as {
      channels: Record<string, { title: string }>
    }
    assert.deepEqual(
      Object.values(channels).map(({ title }) => title),
      names,
    )
    const at = html.indexOf('<article id="spot.orders"')
    const article = html.slice(at, html.indexOf('</article>', at))
    assert.match(article, /signed, permission spot or margin/)
    assert.match(article, /\[&quot;BTC_USDT&quot;, …\] or \[&quot;!all&quot;\]/)
    const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    const dead = [...html.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id).filter((id) => !ids.has(id))
    assert.deepEqual(dead, [])
  } finally {
    await platform.stop()
  }
})
