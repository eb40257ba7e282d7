import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { WebSocket } from 'ws'
import { signedIn, type Browser } from '../support/console.ts'
import { checkFrame } from '../support/frames.ts'
import { TestPlatform } from '../support/platform.ts'

type Frame = Record<string, any> // eslint-disable-line @typescript-eslint/no-explicit-any -- whatever comes

/** A page's socket: what came, and how it ended. */
class PageSocket {
  readonly ws: WebSocket
  readonly frames: Frame[] = []
  ended: { code: number; reason: string } | undefined
  constructor(url: string, path: string, headers: Record<string, string>) {
    this.ws = new WebSocket(url.replace(/^http/, 'ws') + path, { headers })
    this.ws.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as Frame
      checkFrame(frame)
      this.frames.push(frame)
    })
    this.ws.on('close', (code, reason) => (this.ended = { code, reason: reason.toString() }))
  }
  opened(): Promise<{ status: number; label?: string }> {
    return new Promise((resolve, reject) => {
      this.ws.on('open', () => resolve({ status: 101 }))
      this.ws.on('unexpected-response', (_, response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () =>
          resolve({ status: response.statusCode!, label: (JSON.parse(text) as Frame)['label'] as string }),
        )
      })
      this.ws.on('error', reject)
    })
  }
  async until<T>(what: () => T | undefined): Promise<T> {
    for (let i = 0; i < 200; i++) {
      const found = what()
      if (found !== undefined) return found
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    return assert.fail(
      `it did not come; there are ${JSON.stringify(this.frames)} ${JSON.stringify(this.ended)}`,
    )
  }
  frame(test: (frame: Frame) => boolean): Promise<Frame> {
    return this.until(() => this.frames.find(test))
  }
  subscribe(channel: string, payload: unknown): void {
    this.ws.send(
      JSON.stringify({ time: Math.floor(Date.now() / 1000), channel, event: 'subscribe', payload }),
    )
  }
  call(channel: string, req_id: string, req_param: unknown): void {
    const time = Math.floor(Date.now() / 1000)
    this.ws.send(JSON.stringify({ time, channel, event: 'api', payload: { req_id, req_param } }))
  }
}

describe('the socket of pages', () => {
  let platform: TestPlatform
  let main: number
  let sub: number
  const open: PageSocket[] = []
  const socketOf = (
    browser: Browser,
    path = '/console/ws',
    headers: Record<string, string> = {},
  ): PageSocket => {
    const socket = new PageSocket(platform.url, path, {
      Cookie: browser.cookie,
      Origin: platform.url,
      ...headers,
    })
    open.push(socket)
    return socket
  }
  before(async () => {
    platform = await TestPlatform.start()
    const { accounts } = platform.platform.credentials
    main = accounts[0]!.user_id
    sub = accounts.find(({ parent }) => parent === main)!.user_id
  })
  after(async () => {
    for (const { ws } of open) ws.terminate()
    await platform.stop()
  })

  test('private channels and calls need no signature there', async () => {
    const browser = await signedIn(platform, { user_id: main })
    const socket = socketOf(browser)
    assert.equal((await socket.opened()).status, 101)
    socket.subscribe('spot.orders', ['BTC_USDT'])
    await socket.frame(({ channel, result }) => channel === 'spot.orders' && result?.status === 'success')
    const order = { text: 't-page', currency_pair: 'BTC_USDT', side: 'buy', amount: '0.01', price: '1000' }
    socket.call('spot.order_place', 'one', order)
    const answer = await socket.frame(({ request_id, ack }) => request_id === 'one' && ack === undefined)
    assert.equal(answer['header'].status, '200', JSON.stringify(answer))
    const push = await socket.frame(({ channel, event }) => channel === 'spot.orders' && event === 'update')
    assert.equal(push['result'][0].text, 't-page')
    socket.call('spot.login', 'two', {})
    const login = await socket.frame(({ request_id }) => request_id === 'two')
    assert.equal(login['data'].errs.label, 'INVALID_ARGUMENT')
    socket.ws.close()
  })
  test('another one of the own accounts is chosen by the address, a stranger is not', async () => {
    const browser = await signedIn(platform, { user_id: main })
    const socket = socketOf(browser, `/console/ws?account=${sub}`)
    assert.equal((await socket.opened()).status, 101)
    socket.call('spot.order_list', 'one', { currency_pair: 'BTC_USDT', status: 'open' })
    assert.deepEqual(
      (await socket.frame(({ request_id }) => request_id === 'one'))['data'].result,
      [],
      'the main account has an order, this one none',
    )
    const stranger = await platform.user()
    assert.deepEqual(await socketOf(browser, `/console/ws?account=${stranger.user_id}`).opened(), {
      status: 403,
      label: 'FORBIDDEN',
    })
  })
  test('no cookie, another origin, none, or an operator: refused at the handshake', async () => {
    const browser = await signedIn(platform, { user_id: main })
    const operator = await signedIn(platform, { operator: 'admin' })
    const status = (headers: Record<string, string>, from = browser) =>
      socketOf(from, '/console/ws', headers).opened()
    assert.deepEqual(await status({ Cookie: '' }), { status: 401, label: 'INVALID_CREDENTIALS' })
    assert.deepEqual(await status({}, operator), { status: 401, label: 'INVALID_CREDENTIALS' })
    for (const Origin of [
      'http://evil.example',
      'null',
      'http://127.0.0.1:1',
      `${platform.url}.evil.example`,
    ])
      assert.deepEqual(await status({ Origin }), { status: 403, label: 'FORBIDDEN' }, Origin)
    const bare = new PageSocket(platform.url, '/console/ws', { Cookie: browser.cookie })
    assert.equal((await bare.opened()).status, 403)
    assert.equal((await status({ 'Sec-Fetch-Site': 'cross-site' })).status, 403)
  })
  test('the v4 address knows no cookie', async () => {
    const browser = await signedIn(platform, { user_id: main })
    const socket = socketOf(browser, '/ws/v4/')
    assert.equal((await socket.opened()).status, 101)
    socket.subscribe('spot.orders', ['BTC_USDT'])
    const answer = await socket.frame(({ channel }) => channel === 'spot.orders')
    assert.match(answer['error'].message as string, /MISSING_REQUIRED_HEADER/)
  })
  test('a session that ends takes its socket along, and nobody else’s', async () => {
    const [one, two] = [
      await signedIn(platform, { user_id: main }),
      await signedIn(platform, { user_id: main }),
    ]
    const [first, second] = [socketOf(one), socketOf(two)]
    await Promise.all([first.opened(), second.opened()])
    first.subscribe('spot.orders', ['BTC_USDT'])
    await first.frame(({ channel, result }) => channel === 'spot.orders' && result?.status === 'success')
    await one.ok('POST', '/v1/sign-out')
    const { code, reason } = await first.until(() => first.ended)
    assert.equal(code, 1008)
    assert.match(reason, /INVALID_CREDENTIALS/)
    assert.equal(second.ended, undefined)
    second.call('spot.order_list', 'one', { currency_pair: 'BTC_USDT', status: 'open' })
    assert.equal((await second.frame(({ request_id }) => request_id === 'one'))['header'].status, '200')
  })
  test('contracts have an address for each group and settle currency', async () => {
    const browser = await signedIn(platform, { user_id: main })
    const socket = socketOf(browser, '/console/ws/futures/usdt')
    assert.equal((await socket.opened()).status, 101)
    for (const channel of ['futures.orders', 'futures.positions']) {
      socket.subscribe(channel, ['0', '!all'])
      await socket.frame((frame) => frame['channel'] === channel && frame['result']?.status === 'success')
    }
    const order = { text: 't-page', contract: 'BTC_USDT', size: 1, price: '59000' }
    socket.call('futures.order_place', 'one', order)
    const answer = await socket.frame(({ request_id, ack }) => request_id === 'one' && ack === undefined)
    assert.equal(answer['header'].status, '200', JSON.stringify(answer))
    const push = await socket.frame(
      ({ channel, event }) => channel === 'futures.orders' && event === 'update',
    )
    assert.equal(push['result'][0].text, 't-page')
    for (const path of ['futures/btc', 'delivery/usdt', 'delivery/btc'])
      assert.equal((await socketOf(browser, `/console/ws/${path}`).opened()).status, 101)
  })
  test('unified channels have an address beside it', async () => {
    const socket = socketOf(await signedIn(platform, { user_id: main }), '/console/ws/unified')
    assert.equal((await socket.opened()).status, 101)
  })
})
