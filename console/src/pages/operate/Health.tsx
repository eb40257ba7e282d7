import { call } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { ActionButton } from '../../parts/ActionButton.tsx'
import { Card, Facts, Page } from '../../parts/Page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Spark } from '../../parts/Spark.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { Verdict, useMay } from './common.tsx'

const megabytes = (value: number): string => `${(value / 1e6).toFixed(value < 1e7 ? 2 : 0)} MB`
const plain = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2)

export function Health(): React.JSX.Element {
  const may = useMay('operator')
  const status = useShared(['operate', 'status'], () => call('GET /operator/v1/status'), {
    every: 5_000,
    stale: 1_000,
  })
  const lines = useShared(['operate', 'health'], () => call('GET /operator/v1/health'), {
    every: 10_000,
    stale: 1_000,
  })
  const due = useShared(['operate', 'due'], () => call('GET /operator/v1/due'), {
    every: 10_000,
    stale: 1_000,
  })
  const refresh = [['shared', 'operate', 'due']] as const
  return (
    <Page title="Health" lead="The last hour, and what needs a person.">
      <Loaded of={status}>
        {(now) => (
          <Card title="Now">
            <div className="cols-2">
              <Facts
                of={[
                  ['mode', now.mode],
                  ['version', now.version],
                  ['store', now.store],
                  ['sequence', now.sequence],
                  ['tables behind the journal', `${now.projection.lag_batches} batches`],
                ]}
              />
              <Facts
                of={[
                  [
                    'markets',
                    now.halted === null ? (
                      <Verdict well={now.markets_halted.length === 0}>
                        {now.markets_halted.length === 0 ? 'all open' : `${now.markets_halted.length} halted`}
                      </Verdict>
                    ) : (
                      <Verdict well={false}>
                        all halted by {now.halted.by}: {now.halted.reason}
                      </Verdict>
                    ),
                  ],
                  [
                    'gateways',
                    now.gateways.length === 0
                      ? "in the core's process"
                      : now.gateways.map(({ pid, connections }) => `${pid} (${connections})`).join(', '),
                  ],
                  ...now.warnings.map(
                    (text) =>
                      [
                        'warning',
                        <span key={text} className="wait">
                          {text}
                        </span>,
                      ] as const,
                  ),
                ]}
              />
            </div>
          </Card>
        )}
      </Loaded>
      <Loaded of={lines}>
        {(list) => {
          const times = list.map(({ time }) => time)
          const of = (member: keyof (typeof list)[number]): number[] => list.map((line) => line[member])
          return (
            <div className="tiles sparks">
              <Spark name="requests a second" times={times} values={of('requests_per_second')} show={plain} />
              <Spark
                name="errors (5xx) a second"
                times={times}
                values={of('errors_per_second')}
                show={plain}
              />
              <Spark name="batches a second" times={times} values={of('commits_per_second')} show={plain} />
              <Spark
                name="time of a commit"
                times={times}
                values={of('commit_ms')}
                show={(v) => `${plain(v)} ms`}
              />
              <Spark name="tables behind, bytes" times={times} values={of('lag_bytes')} show={megabytes} />
              <Spark
                name="commands waiting"
                times={times}
                values={of('waiting')}
                show={(v) => v.toFixed(0)}
              />
              <Spark name="sockets" times={times} values={of('sockets')} show={(v) => v.toFixed(0)} />
              <Spark name="memory" times={times} values={of('memory_bytes')} show={megabytes} />
              <Spark
                name="main thread busy"
                times={times}
                values={of('busy')}
                show={(v) => `${(v * 100).toFixed(0)} %`}
              />
            </div>
          )
        }}
      </Loaded>
      <Card title="Due work that failed" flush>
        <Loaded of={due}>
          {(rows) => (
            <Table
              label="Due work that failed"
              rows={rows}
              rowKey={({ id }) => id}
              empty={<Empty>Nothing was put aside.</Empty>}
              columns={[
                { name: 'due', cell: ({ due_at }) => <Time at={due_at} /> },
                { name: 'what', cell: ({ command }) => <b>{command}</b> },
                { name: 'why', cell: ({ error }) => error },
                {
                  name: 'decide',
                  quiet: true,
                  right: true,
                  cell: ({ id, command }) => (
                    <div className="row" style={{ justifyContent: 'flex-end' }}>
                      <ActionButton
                        label="Try again"
                        disabled={may !== undefined}
                        why={may}
                        refresh={refresh}
                        act={() => call('POST /operator/v1/due/{id}/retry', { path: { id } })}
                      >
                        {command} runs again at the next tick.
                      </ActionButton>
                      <ActionButton
                        label="Give up"
                        color="red"
                        disabled={may !== undefined}
                        why={may}
                        type={{ text: String(id), what: `Type ${id}` }}
                        refresh={refresh}
                        act={() => call('POST /operator/v1/due/{id}/drop', { path: { id } })}
                      >
                        {command} will never run for this item.
                      </ActionButton>
                    </div>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </Card>
    </Page>
  )
}
