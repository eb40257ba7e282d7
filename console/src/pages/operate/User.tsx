import { Tabs } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { call } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { ActionButton } from '../../parts/ActionButton.tsx'
import { Card, Facts, Page } from '../../parts/Page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/Status.tsx'
import { Time } from '../../parts/Time.tsx'
import { UserLink, useMay } from './common.tsx'
import { stateWord } from './Users.tsx'
import { Export } from './UserExport.tsx'
import { Balances, Statement } from './UserMoney.tsx'
import { Orders, Withdrawals, Keys, Risk } from './UserRecords.tsx'

export function User(): React.JSX.Element {
  const { uid: text = '' } = useParams({ strict: false })
  const uid = Number(text)
  const path = { uid }
  const may = useMay('operator')
  const user = useShared(['operate', 'user', uid], () => call('GET /operator/v1/users/{uid}', { path }))
  const refresh = [['shared', 'operate', 'user', uid]] as const
  return (
    <Page
      title={`Account ${text}`}
      actions={
        <>
          <Export uid={uid} />
          <Loaded of={user} rows={1}>
            {({ state }) =>
              state === 2 ? (
                <ActionButton
                  label="Unfreeze"
                  disabled={may !== undefined}
                  why={may}
                  refresh={refresh}
                  act={() => call('PATCH /operator/v1/users/{uid}', { path, body: { state: 1 } })}
                >
                  The account can trade and withdraw again.
                </ActionButton>
              ) : (
                <ActionButton
                  label="Freeze"
                  color="red"
                  disabled={may !== undefined}
                  why={may}
                  type={{ text, what: `Type ${text}` }}
                  refresh={refresh}
                  act={() => call('PATCH /operator/v1/users/{uid}', { path, body: { state: 2 } })}
                >
                  Its orders are cancelled, its withdrawals that were not sent are stopped, its keys do
                  nothing until it is unfrozen.
                </ActionButton>
              )
            }
          </Loaded>
        </>
      }
    >
      <Loaded of={user}>
        {(row) => (
          <Card title={row.login_name}>
            <Facts
              of={[
                ['state', <Status key="s" of={stateWord(row.state)} />],
                ['email', row.email === '' ? '–' : row.email],
                ['main account', row.parent === 0 ? 'is one' : <UserLink id={row.parent} />],
                ['tier', `VIP ${row.vip}`],
                ['since', <Time key="t" at={row.create_time} />],
                ['takes pushes', row.push_acceptance],
                ['may withdraw a day', row.withdraw_day_limit ?? 'as everybody'],
              ]}
            />
          </Card>
        )}
      </Loaded>
      <Tabs defaultValue="balances" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="balances">Balances</Tabs.Tab>
          <Tabs.Tab value="statement">Statement</Tabs.Tab>
          <Tabs.Tab value="orders">Open orders</Tabs.Tab>
          <Tabs.Tab value="withdrawals">Withdrawals</Tabs.Tab>
          <Tabs.Tab value="keys">Keys</Tabs.Tab>
          <Tabs.Tab value="risk">Risk</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="balances" pt="md">
          <Balances uid={uid} />
        </Tabs.Panel>
        <Tabs.Panel value="statement" pt="md">
          <Statement uid={uid} />
        </Tabs.Panel>
        <Tabs.Panel value="orders" pt="md">
          <Orders uid={uid} />
        </Tabs.Panel>
        <Tabs.Panel value="withdrawals" pt="md">
          <Withdrawals uid={uid} />
        </Tabs.Panel>
        <Tabs.Panel value="keys" pt="md">
          <Keys uid={uid} />
        </Tabs.Panel>
        <Tabs.Panel value="risk" pt="md">
          <Risk uid={uid} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
