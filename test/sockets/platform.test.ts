import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { request } from 'node:http'
import { readConfig } from '../../src/config.ts'
import { Doors } from '../../src/http/doors.ts'
import { TestPlatform } from '../support/platform.ts'

/** The answer to a handshake that is refused. */
const handshake = (url: string, path: string): Promise<{ status: number; label: string; message: string }> =>
  new Promise((resolve, reject) => {
    const asked = request(`${url}${path}`, {
      headers: {
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      },
    })
    asked.on('response', (reply) => {
      let text = ''
      reply.on('data', (chunk: Buffer) => (text += chunk.toString()))
      reply.on('end', () =>
        resolve({ status: reply.statusCode!, ...(JSON.parse(text) as { label: string; message: string }) }),
      )
    })
    asked.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(new Error('it was upgraded'))
    })
    asked.on('error', reject)
    asked.end()
  })

describe('sockets of a platform', () => {
  test('while it starts nobody gets one', async () => {
    const doors = new Doors(readConfig({ KONTOR_PORT: '0', KONTOR_GATEWAYS: '0' }), () => undefined)
    await doors.listen()
    const { status, label, message } = await handshake(doors.url, '/ws/v4/')
    assert.deepEqual([status, label], [503, 'TOO_BUSY'])
    assert.match(message, /starting/)
    await doors.close()
  })
  test('operators have an address of their own, and no sockets there', async () => {
    const platform = await TestPlatform.start({ KONTOR_OPERATOR_LISTEN: '127.0.0.1:0' })
    const { url, operatorUrl } = platform.platform
    assert.equal((await handshake(operatorUrl, '/ws/v4/')).status, 404)
    assert.equal((await handshake(url, '/ws/nowhere')).status, 404)
    assert.equal((await fetch(`${url}/ws/v4/`)).status, 426)
    assert.equal((await fetch(`${operatorUrl}/ws/v4/`)).status, 404)
    assert.equal((await fetch(`${url}/ws/v4/`, { method: 'POST' })).status, 404)
    await platform.stop()
  })
  test('settings are checked', () => {
    const { sockets } = readConfig({})
    assert.deepEqual([sockets.webSockets, sockets.queue], [300, 8_388_608])
    for (const [name, value] of [
      ['KONTOR_WS_CONNECTIONS', '0'],
      ['KONTOR_WS_QUEUE', '1000'],
      ['KONTOR_WS_QUEUE', '8M'],
    ] as const)
      assert.throws(() => readConfig({ [name]: value }), new RegExp(`${name} must be a whole number`))
  })
})
