import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { client, useShared } from '../../api/query.ts'
import { span } from '../../lib/time.ts'
import { ActionButton } from '../../parts/ActionButton.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Loaded, toast, toastError } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { WithOperator } from './common.tsx'

const STEPS = [
  ['+1 min', 60],
  ['+1 h', 3_600],
  ['+8 h', 28_800],
  ['+1 d', 86_400],
  ['+7 d', 604_800],
] as const
/** What due work means to people. */
const WORDS: Readonly<Record<string, string>> = {
  'agents.candle': 'a step of a real candle that is played back',
  'agents.contract_look': 'a look of the market agents at contracts',
  'agents.look': 'a look of the market agents',
  'agents.trade': 'a trade of the market agents',
  'chain.pause': 'the rest of a pause of a chain',
  'chain.wake': 'a block that matters to a chain',
  'contract.look': 'contracts are listed, expire or are delisted',
  'contract.sweep': 'orders and positions of a contract that ends',
  'futures.cancel_rest': 'the rest of the orders in contracts is cancelled',
  'futures.chase.look': 'orders that chase the best price look at it',
  'futures.countdown.strike': 'a countdown cancels orders in contracts',
  'futures.fire': 'orders in contracts whose price was reached are placed',
  'futures.fund': 'funding, the next positions',
  'futures.liquidate': 'the liquidation of a position goes on',
  'futures.look': 'positions near their limit are looked at',
  'futures.stat': 'figures of a contract, every five minutes',
  'futures.minute': 'premiums, marks and funding of contracts',
  'futures.price_order.expire': 'a price order in contracts expires',
  'futures.trail.follow': 'trailing orders come along with a price',
  'futures.unwind': 'the insurance fund closes a part of what it holds',
  'lending.charge': 'interest of the hour, the next accounts',
  'lending.hour': 'interest of the hour, and the rates of the next',
  'market.cancel_rest': 'the rest of a halted market’s orders is cancelled',
  'margin.check': 'the figures of an account are looked at',
  'margin.liquidate': 'a liquidation goes on',
  'margin.recheck': 'the margin of an account is looked at again',
  'prices.expire': 'a price that was set by hand ends',
  'proposal.effect': 'a proposal takes effect',
  'proposal.expire': 'a proposal ends',
  'push.expire': 'a push that nobody accepted ends',
  'spot.cancel_rest': 'the rest of the orders is cancelled',
  'spot.countdown.strike': 'a countdown cancels orders',
  'spot.pov.look': 'an order that follows the market’s volume looks at it',
  'spot.price_order.expire': 'a price order expires',
  'spot.price_order.fire': 'price orders of a market fire',
  'spot.ratios': 'trading ratios of the day are counted',
  'user.stop': 'what a frozen account had under way is stopped',
  'withdrawal.refund': 'a cancelled withdrawal is paid back',
}
/** What it is about, where it is about something: "chain BTC", "id 7". */
const about = (input: unknown): string =>
  Object.entries(input as Readonly<Record<string, unknown>>)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .slice(0, 3)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`)
    .join(', ')
/** The whole page shows another time then. */
const refresh = (): Promise<void> => client.invalidateQueries()

export function Clock(): React.JSX.Element {
  return (
    <Page
      title="Clock"
      lead="The sandbox has a clock of its own. Move it, and everything that falls due on the way happens, in order, before the answer."
    >
      <WithOperator>
        <Steer />
      </WithOperator>
    </Page>
  )
}
function Steer(): React.JSX.Element {
  const clock = useShared(['lab', 'clock'], () => call('GET /operator/v1/clock'), {
    every: 1_000,
    stale: 500,
  })
  const coming = useShared(
    ['lab', 'coming'],
    () => call('GET /operator/v1/due/coming', { query: { limit: 100 } }),
    {
      every: 2_000,
      stale: 500,
    },
  )
  const [busy, setBusy] = useState(false)
  const [hours, setHours] = useState('')
  const move = async (body: { advance_seconds: number } | { now: number }): Promise<void> => {
    setBusy(true)
    try {
      const { now, due_failed } = await call('POST /operator/v1/clock', { body })
      toast(
        `It is ${new Date(now * 1000).toLocaleString()} now`,
        due_failed === 0 ? '' : `${due_failed} due items failed; they stand under Health.`,
      )
      await refresh()
    } catch (error) {
      toastError(error)
    } finally {
      setBusy(false)
    }
  }
  // Agents look every moment: what people wait for is the rest.
  const next = coming.data?.find(
    ({ command }) =>
      command !== 'agents.look' && command !== 'agents.contract_look' && command !== 'futures.minute',
  )
  return (
    <>
      <Card title="Now">
        <Loaded of={clock} rows={2}>
          {({ now, offset_seconds }) => (
            <div className="stack">
              <div className="big-figure">
                <Time at={now} />{' '}
                <span className="dim" style={{ fontSize: 14, fontWeight: 400 }}>
                  {offset_seconds < 1
                    ? 'as outside'
                    : `${span(offset_seconds * 1000)} ahead of the real time`}
                </span>
              </div>
              <div className="row">
                {STEPS.map(([name, seconds]) => (
                  <Button
                    key={name}
                    variant="default"
                    loading={busy}
                    onClick={() => void move({ advance_seconds: seconds })}
                  >
                    {name}
                  </Button>
                ))}
                <Button
                  loading={busy}
                  disabled={next === undefined}
                  onClick={() => void move({ now: Math.max(now, next!.due_at) + 0.001 })}
                >
                  To the next event
                </Button>
                <form
                  className="row"
                  onSubmit={(event) => {
                    event.preventDefault()
                    const given = Number(hours.replace(',', '.'))
                    if (given > 0) void move({ advance_seconds: Math.round(given * 3_600) })
                  }}
                >
                  <TextInput
                    aria-label="Hours to move the clock by"
                    placeholder="hours"
                    inputMode="decimal"
                    w={90}
                    value={hours}
                    onChange={(event) => setHours(event.currentTarget.value)}
                  />
                  <Button
                    type="submit"
                    variant="default"
                    loading={busy}
                    disabled={!(Number(hours.replace(',', '.')) > 0)}
                  >
                    Move
                  </Button>
                </form>
                <ActionButton
                  label="Reset the world"
                  color="red"
                  size="sm"
                  type={{ text: 'reset', what: 'Type reset' }}
                  act={async () => {
                    await call('POST /operator/v1/reset')
                    await refresh()
                  }}
                  done="The world is as at its first start"
                >
                  Everything goes back to the first start: balances, orders, history, clock. Keys and tokens
                  stay, and so does nobody's session: sign in again afterwards.
                </ActionButton>
              </div>
            </div>
          )}
        </Loaded>
      </Card>
      <Card title="What falls due" flush>
        <Loaded of={coming}>
          {(rows) => (
            <Table
              label="What falls due"
              rows={rows}
              rowKey={({ id }) => id}
              empty={<Empty>Nothing is planned.</Empty>}
              columns={[
                { name: 'when', cell: ({ due_at }) => <Time at={due_at} /> },
                { name: 'in', cell: ({ due_at }) => <Time at={due_at} form="relative" /> },
                { name: 'what', cell: ({ command }) => WORDS[command] ?? command.replaceAll(/[._]/g, ' ') },
                {
                  name: 'of',
                  cell: ({ input }) => (
                    <span className="small dim wrap" title={JSON.stringify(input)}>
                      {about(input) || '–'}
                    </span>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </Card>
    </>
  )
}
