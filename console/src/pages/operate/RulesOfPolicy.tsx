import { Button, Textarea } from '@mantine/core'
import { useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import { client, useShared } from '../../api/query.ts'
import { tellDone } from '../../parts/ActionButton.tsx'
import { Amount } from '../../parts/Amount.tsx'
import { Card } from '../../parts/Page.tsx'
import { Empty, Failed, Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { useMay } from './common.tsx'

export function Policy(): React.JSX.Element {
  const may = useMay('admin')
  const query = useShared(['operate', 'policy'], () => call('GET /operator/v1/policy'))
  const [draft, setDraft] = useState<string | undefined>(undefined)
  const [tried, setTried] = useState<Reply<'POST /operator/v1/policy/dry_run'> | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const text = draft ?? JSON.stringify(query.data ?? {}, null, 2)
  let parsed: Record<string, unknown> | undefined
  try {
    parsed = JSON.parse(text) as Record<string, unknown>
  } catch {
    parsed = undefined
  }
  const attempt = async (act: (policy: Record<string, unknown>) => Promise<void>): Promise<void> => {
    setError(undefined)
    try {
      await act(parsed!)
    } catch (caught) {
      setError(caught)
    }
  }
  return (
    <div className="cols-2">
      <Card title="Policy of withdrawals">
        <Loaded of={query}>
          {() => (
            <div className="stack">
              <Textarea
                aria-label="The policy as JSON"
                classNames={{ input: 'mono' }}
                autosize
                minRows={14}
                maxRows={30}
                spellCheck={false}
                value={text}
                onChange={(event) => {
                  setDraft(event.currentTarget.value)
                  setTried(undefined)
                }}
                error={parsed === undefined ? 'this is no JSON' : undefined}
              />
              {error === undefined ? null : <Failed error={error} />}
              <div className="row">
                <Button
                  variant="default"
                  disabled={parsed === undefined}
                  onClick={() =>
                    void attempt(async (policy) =>
                      setTried(await call('POST /operator/v1/policy/dry_run', { body: { policy } })),
                    )
                  }
                >
                  Try it on what was withdrawn
                </Button>
                <Button
                  disabled={parsed === undefined || draft === undefined || may !== undefined}
                  title={may}
                  onClick={() =>
                    void attempt(async (policy) => {
                      tellDone(
                        await call('PUT /operator/v1/policy', { body: policy }),
                        'The policy is in force',
                      )
                      setDraft(undefined)
                      await client.invalidateQueries({ queryKey: ['shared', 'operate', 'policy'] })
                    })
                  }
                >
                  Put it in force
                </Button>
                <Button variant="subtle" disabled={draft === undefined} onClick={() => setDraft(undefined)}>
                  As it is
                </Button>
              </div>
            </div>
          )}
        </Loaded>
      </Card>
      <Card title="What it would have changed" flush>
        {tried === undefined ? (
          <Empty>
            Change the policy and try it: withdrawals of the past that it would treat differently stand here.
          </Empty>
        ) : (
          <Table
            label="What it would have changed"
            rows={tried.changed}
            rowKey={({ id }) => id}
            empty={<Empty>{tried.judged} withdrawals were judged; none would be treated differently.</Empty>}
            columns={[
              { name: 'id', cell: ({ id }) => id },
              { name: 'account', cell: ({ user_id }) => user_id },
              {
                name: 'amount',
                right: true,
                cell: ({ amount, currency }) => <Amount value={amount} currency={currency} />,
              },
              { name: 'now', cell: ({ now }) => holdsText(now) },
              { name: 'then', cell: ({ draft: then }) => holdsText(then) },
            ]}
          />
        )}
      </Card>
    </div>
  )
}
const holdsText = (holds: readonly { status: string; reason: string }[]): string =>
  holds.length === 0 ? 'goes at once' : holds.map(({ status, reason }) => `${status}: ${reason}`).join('; ')
