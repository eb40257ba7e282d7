import type { Answer } from './house.ts'
import { TRON } from './outside.ts'
import { saveAddress, type Guest, type Scene, type Stage } from './stage.ts'

const { chain: CHAIN } = TRON
/** Blocks after which a deposit counts, and after which it may leave again. */
const CREDITED = 21
const UNLOCKED = 50

const mine = (stage: Stage, blocks: number, chain: string = CHAIN): Promise<Answer> =>
  stage.operate('POST', `/chains/${chain}/mine`, { blocks })
const reorganise = (stage: Stage, depth: number, drop: readonly string[], chain: string = CHAIN) =>
  stage.operate('POST', `/chains/${chain}/reorg`, { depth, drop })
const newest = (stage: Stage, chain: string = CHAIN): string =>
  stage.house.state.sim.txsOf(chain).at(-1)!.txid

/** A payment into an account, by its transaction. */
async function paid(stage: Stage, { user }: Guest, amount: string): Promise<string> {
  await stage.operate('POST', `/chains/${CHAIN}/deposits`, { user_id: user, currency: 'USDT', amount })
  return newest(stage)
}
/** Of two payments one is gone, the other waits for a block again, before anybody looks. */
async function takeOut(stage: Stage, depth: number, lost: string, late: string): Promise<void> {
  await Promise.all([
    reorganise(stage, depth, [lost, late]),
    stage.operate('PATCH', `/chains/${CHAIN}/transactions/${late}`, { state: 'pending' }),
  ])
  await mine(stage, 2)
}
/** The deposit that a transaction led to. */
function depositOf(stage: Stage, txid: string): string {
  for (const one of stage.house.state.wallet.deposits.table.values())
    if (one.txid === txid) return `d${one.id}`
  return 'd0'
}
/** The payment that a refund is made by, newest first. */
function refundOf(stage: Stage, deposit: string): string {
  const found = [...stage.house.state.wallet.withdrawals.table.values()].filter(
    ({ refund_of }) => `d${refund_of}` === deposit,
  )
  return `w${found.at(-1)?.id ?? 0}`
}
async function blocked(stage: Stage): Promise<string> {
  const guest = await stage.guest()
  const id = depositOf(stage, await paid(stage, guest, '300'))
  await stage.operate('POST', `/deposits/${id}/block`, { reason: 'sim' })
  await mine(stage, UNLOCKED)
  return id
}
const refund = (stage: Stage, id: string): Promise<Answer> =>
  stage.operate('POST', `/deposits/${id}/refund`, { address: TRON.address, reason: 'sim' })
/** Somebody else than who has asked for it. */
async function colleague(stage: Stage): Promise<string> {
  const { body } = await stage.operate('POST', '/operators', {
    name: `second_${stage.n[0]!}`,
    role: 'operator',
  })
  return body.token as string
}
async function holder(stage: Stage, amount: string): Promise<Guest> {
  const guest = await stage.guest({ USDT: amount })
  await saveAddress(stage, guest)
  return guest
}
/** Money on its way in and out, where it goes wrong or is decided by operators. */
export const MONEY_SCENES: Readonly<Record<string, Scene>> = {
  'credited, and then taken back by the chain': async (stage) => {
    const guest = await stage.guest()
    const [lost, late] = [await paid(stage, guest, '100'), await paid(stage, guest, '50')]
    await mine(stage, CREDITED)
    await takeOut(stage, CREDITED + 2, lost, late)
  },
  'unlocked, and then taken back by the chain': async (stage) => {
    const guest = await stage.guest()
    const [lost, late] = [await paid(stage, guest, '100'), await paid(stage, guest, '50')]
    await mine(stage, UNLOCKED)
    await takeOut(stage, UNLOCKED + 2, lost, late)
  },
  'a refund that is paid, and paid again': async (stage) => {
    const id = await blocked(stage)
    await refund(stage, id)
    const reason = { reason: 'sim' }
    const path = `/withdrawals/${refundOf(stage, id)}/approve`
    await stage.operate('POST', path, reason)
    await stage.house.operate('POST', path, reason, await colleague(stage))
    await stage.clock(30)
    await mine(stage, CREDITED)
    await reorganise(stage, CREDITED + 2, [newest(stage)])
    await mine(stage, 3)
  },
  'a refund that nobody pays': async (stage) => {
    const id = await blocked(stage)
    const reject = async () =>
      stage.operate('POST', `/withdrawals/${refundOf(stage, id)}/reject`, { reason: 'sim' })
    await refund(stage, id)
    await reject()
    await refund(stage, id)
    await reject()
    await stage.operate('POST', `/deposits/${id}/reject_refund`, { reason: 'sim' })
  },
  'to an account of this platform': async (stage) => {
    const [giver, taker] = [await holder(stage, '16000000'), await stage.guest()]
    const { body } = await taker.get('/wallet/deposit_address', { currency: 'USDT' })
    const address = (body.multichain_addresses as { chain: string; address: string }[]).find(
      ({ chain }) => chain === CHAIN,
    )!.address
    await saveAddress(stage, giver, address)
    await giver.post('/withdrawals', { ...TRON, address, amount: '20' })
    // So much that an operator looks at it, where the policy wants it.
    await stage.operate('PUT', '/policy', { internal_transfers: 'checked' })
    const { body: asked } = await giver.post('/withdrawals', { ...TRON, address, amount: '15500000' })
    await stage.operate('POST', `/withdrawals/${asked.id}/approve`, { reason: 'sim' })
    await stage.operate('PUT', '/policy', { internal_transfers: 'free' })
  },
  'deposits that are held, blocked and lost': async (stage) => {
    const guest = await stage.guest()
    const held = [
      await paid(stage, guest, '100'),
      await paid(stage, guest, '60'),
      await paid(stage, guest, '40'),
    ]
    const [one, two, three] = held.map((txid) => depositOf(stage, txid)) as [string, string, string]
    const judge = (id: string, verb: string): Promise<Answer> =>
      stage.operate('POST', `/deposits/${id}/${verb}`, { reason: 'sim' })
    for (const id of [one, two]) await judge(id, 'hold')
    await judge(three, 'block')
    await judge(three, 'reject_refund')
    await mine(stage, 2)
    await judge(one, 'release')
    await reorganise(stage, 5, held.slice(1))
    await mine(stage, 2)
  },
  'more than may leave': async (stage) => {
    const guest = await holder(stage, '30000000')
    await guest.post('/withdrawals', { ...TRON, amount: '25000000' })
  },
  'failed by an operator, and tried again': async (stage) => {
    const guest = await holder(stage, '500')
    const decide = (id: string, verb: string): Promise<Answer> =>
      stage.operate('POST', `/withdrawals/${id}/${verb}`, { reason: 'sim' })
    const ids: string[] = []
    for (let i = 0; i < 2; i++)
      ids.push((await guest.post('/withdrawals', { ...TRON, amount: '50' })).body.id)
    const stop = (sender_stops_at: string): Promise<Answer> =>
      stage.operate('PATCH', `/chains/${CHAIN}`, { sender_stops_at })
    await stop(['PROCES', 'PEND'][stage.n[3]! % 2]!)
    await stage.clock(1_300)
    for (const id of ids) await decide(id, 'fail')
    await stop('never')
    await decide(ids[0]!, 'retry')
    await decide(ids[1]!, 'reject')
    await mine(stage, 3)
  },
  'failed on its chain, and then not': async (stage) => {
    const guest = await holder(stage, '500')
    await guest.post('/withdrawals', { ...TRON, amount: '50' })
    await stage.clock(1_300)
    const txid = newest(stage)
    await stage.operate('PATCH', `/chains/${CHAIN}/transactions/${txid}`, { state: 'failed' })
    await mine(stage, CREDITED)
    await reorganise(stage, CREDITED + 2, [txid])
    await mine(stage, 2)
  },
  'a push that is answered': async (stage) => {
    const [giver, taker] = [await stage.guest({ USDT: '100' }), await stage.guest()]
    await stage.operate('PATCH', `/users/${taker.user}`, { push_acceptance: 'manual' })
    for (const answer of ['accept', 'refuse', 'cancel']) {
      await giver.post('/withdrawals/push', { receive_uid: taker.user, currency: 'USDT', amount: '5' })
      const id = stage.house.state.counters.get('push')?.value ?? 0
      await stage.operate('POST', `/push/${id}/${answer}`)
    }
  },
  'taken back, and given back later': async (stage) => {
    const guest = await holder(stage, '100')
    await stage.operate('PUT', '/policy', { cancel_seconds: 60 })
    const { body } = await guest.post('/withdrawals', { ...TRON, amount: '10' })
    await guest.delete(`/withdrawals/${body.id}`)
    await stage.operate('PUT', '/policy', { cancel_seconds: 0 })
    await stage.clock(61)
  },
  'a chain that is paused': async (stage) => {
    const guest = await holder(stage, '100')
    await stage.operate('PATCH', `/chains/${CHAIN}`, { paused: true })
    await guest.post('/withdrawals', { ...TRON, amount: '10' })
    await stage.operate('PATCH', `/chains/${CHAIN}`, { paused: false })
    await guest.post('/withdrawals', { ...TRON, amount: '10' })
  },
  'without the memo that its chain wants': async (stage) => {
    const guest = await stage.guest()
    const { body } = await guest.get('/wallet/deposit_address', { currency: 'XRP' })
    const pay = async (memo: string): Promise<{ id: string; txid: string }> => {
      const { address } = (body.multichain_addresses as { address: string }[])[0]!
      await stage.operate('POST', '/chains/XRP/deposits', { address, currency: 'XRP', amount: '50', memo })
      const txid = newest(stage, 'XRP')
      return { id: depositOf(stage, txid), txid }
    }
    const [one, two, three] = [await pay(''), await pay('77777777'), await pay('')]
    await stage.operate('POST', `/deposits/${one.id}/release`, { reason: 'sim', user_id: guest.user })
    await stage.operate('POST', `/deposits/${two.id}/block`, { reason: 'sim' })
    await mine(stage, 1, 'XRP')
    await reorganise(stage, 2, [three.txid], 'XRP')
    await mine(stage, 6, 'XRP')
  },
}
