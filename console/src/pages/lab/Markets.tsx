import { Button, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { client, useShared } from '../../api/query.ts'
import { Amount } from '../../parts/Amount.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Failed, Loaded, toast } from '../../parts/states.tsx'
import { Status } from '../../parts/Status.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { WithOperator } from './common.tsx'

const SCENARIOS = {
  crash: {
    name: 'Crash',
    words: 'The price falls within a time and stays there.',
    change: '-30',
    seconds: '60',
  },
  gap: {
    name: 'Gap',
    words: 'The next price is another one, with nothing in between.',
    change: '-10',
    seconds: '1',
  },
  thin_book: {
    name: 'Thin book',
    words: 'Makers step back: little lies in the book for a while.',
    change: '',
    seconds: '600',
  },
  de_peg: {
    name: 'Lost peg',
    words: 'A stable coin slips away from what it should be worth.',
    change: '-8',
    seconds: '3600',
  },
} as const
type Scenario = keyof typeof SCENARIOS
/** What an agent thinks is no price of a book: eight digits of it say enough. */
const priceText = (price: number): string => {
  const places = Math.max(0, 7 - Math.floor(Math.log10(Math.max(Math.abs(price), 1e-9))))
  return price
    .toFixed(Math.min(places, 12))
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '')
}

export function Markets(): React.JSX.Element {
  return (
    <Page title="Markets" lead="The agents that keep the books alive, and bad days on demand.">
      <WithOperator>
        <Steer />
      </WithOperator>
    </Page>
  )
}
function Steer(): React.JSX.Element {
  const agents = useShared(['lab', 'agents'], () => call('GET /operator/v1/agents'), {
    every: 1_000,
    stale: 500,
  })
  const [name, setName] = useState<Scenario>('crash')
  const [pair, setPair] = useState('BTC_USDT')
  const [change, setChange] = useState<string>(SCENARIOS.crash.change)
  const [seconds, setSeconds] = useState<string>(SCENARIOS.crash.seconds)
  const [error, setError] = useState<unknown>(undefined)
  const fair = agents.data?.find(({ currency_pair }) => currency_pair === pair)?.fair
  const share = Number(change.replace(',', '.').replace('−', '-')) / 100
  const choose = (next: Scenario): void => {
    setName(next)
    setChange(SCENARIOS[next].change)
    setSeconds(SCENARIOS[next].seconds)
  }
  const start = async (): Promise<void> => {
    setError(undefined)
    try {
      await call('POST /operator/v1/agents/scenario', {
        body: {
          name,
          currency_pair: pair,
          ...(change !== '' && { change: share }),
          ...(seconds !== '' && { seconds: Number(seconds) }),
        },
      })
      toast(`${SCENARIOS[name].name} in ${pair} has begun`)
      await client.invalidateQueries({ queryKey: ['shared', 'lab', 'agents'] })
    } catch (caught) {
      setError(caught)
    }
  }
  return (
    <div className="cols-main">
      <Card title="What the agents think" flush>
        <Loaded of={agents}>
          {(rows) => (
            <Table
              label="What the agents think"
              rows={rows}
              rowKey={({ currency_pair }) => currency_pair}
              empty={<Empty>No agent trades here: KONTOR_AGENTS is off.</Empty>}
              columns={[
                { name: 'market', cell: ({ currency_pair }) => <b>{currency_pair}</b> },
                {
                  name: 'fair price',
                  right: true,
                  cell: ({ fair: price }) => <Amount value={priceText(price)} />,
                },
                {
                  name: 'scenario',
                  cell: ({ scenario }) =>
                    scenario === '' ? <span className="dim">none</span> : <Status of={scenario} />,
                },
                { name: 'until', cell: ({ until }) => <Time at={until} /> },
              ]}
            />
          )}
        </Loaded>
      </Card>
      <Card title="A bad day">
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault()
            void start()
          }}
        >
          <div className="row">
            {(Object.keys(SCENARIOS) as Scenario[]).map((one) => (
              <Button
                key={one}
                size="xs"
                variant={one === name ? 'filled' : 'default'}
                aria-pressed={one === name}
                onClick={() => choose(one)}
              >
                {SCENARIOS[one].name}
              </Button>
            ))}
          </div>
          <span className="dim">{SCENARIOS[name].words}</span>
          <Select
            label="Market"
            searchable
            data={(agents.data ?? []).map(({ currency_pair }) => currency_pair)}
            value={pair}
            onChange={(value) => setPair(value ?? pair)}
          />
          <div className="cols-2">
            {name === 'thin_book' ? null : (
              <TextInput
                label="Change"
                rightSection={<span className="dim small">%</span>}
                value={change}
                onChange={(event) => setChange(event.currentTarget.value)}
              />
            )}
            <TextInput
              label="Seconds"
              value={seconds}
              onChange={(event) => setSeconds(event.currentTarget.value)}
            />
          </div>
          {fair === undefined || name === 'thin_book' || !Number.isFinite(share) ? null : (
            <span>
              <Amount value={priceText(fair)} /> <span aria-hidden>→</span>{' '}
              <b className={share < 0 ? 'down' : 'up'}>
                <Amount value={priceText(fair * (1 + share))} />
              </b>
            </span>
          )}
          {error === undefined ? null : <Failed error={error} />}
          <Button type="submit" color="red.9">
            Let it happen
          </Button>
        </form>
      </Card>
    </div>
  )
}
