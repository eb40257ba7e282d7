import { Button, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { FormModal } from '../../parts/FormModal.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/Status.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useMay } from './common.tsx'

const PAGE = 100
export const stateWord = (state: number): string => (state === 2 ? 'locked' : 'normal')

export function Users(): React.JSX.Element {
  const go = useNavigate()
  const may = useMay('operator')
  const [name, setName] = useState('')
  const [from, setFrom] = useState(1)
  const [making, setMaking] = useState(false)
  const wanted = name.trim()
  const byId = /^\d+$/.test(wanted) ? Number(wanted) : undefined
  const list = useShared(['operate', 'users', wanted, from], () =>
    byId !== undefined
      ? call('GET /operator/v1/users', { query: { from: byId, limit: 1 } }).then((found) =>
          found.filter(({ user_id }) => user_id === byId),
        )
      : wanted === ''
        ? call('GET /operator/v1/users', { query: { from, limit: PAGE } })
        : call('GET /operator/v1/users', { query: { login_name: wanted } }),
  )
  const open = (uid: number): void => void go({ to: '/operate/users/$uid', params: { uid: String(uid) } })
  return (
    <Page
      title="Users"
      lead="Accounts and sub-accounts: who they are, what they hold, what may be done with them."
      actions={
        <Button disabled={may !== undefined} title={may} onClick={() => setMaking(true)}>
          New account
        </Button>
      }
    >
      <Card
        flush
        label="Users"
        title={
          <TextInput
            aria-label="Find by user id or whole login name"
            placeholder="user id, or the whole login name"
            w={280}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
        }
      >
        <Loaded of={list}>
          {(rows) => (
            <Table
              label="Users"
              rows={rows}
              rowKey={({ user_id }) => user_id}
              onRow={({ user_id }) => open(user_id)}
              empty={<Empty>Nobody has this id or name.</Empty>}
              columns={[
                { name: 'user id', cell: ({ user_id }) => <b className="num">{user_id}</b> },
                { name: 'login name', cell: ({ login_name }) => login_name },
                {
                  name: 'email',
                  cell: ({ email }) => (email === '' ? <span className="dim">–</span> : email),
                },
                {
                  name: 'main account',
                  cell: ({ parent }) => (parent === 0 ? <span className="dim">is one</span> : parent),
                },
                { name: 'tier', cell: ({ vip }) => `VIP ${vip}` },
                { name: 'since', cell: ({ create_time }) => <Time at={create_time} form="minute" /> },
                { name: 'state', cell: ({ state }) => <Status of={stateWord(state)} /> },
              ]}
              more={
                wanted !== '' || rows.length < PAGE ? null : (
                  <div className="more">
                    <Button size="xs" variant="subtle" onClick={() => setFrom(rows.at(-1)!.user_id + 1)}>
                      Next {PAGE}
                    </Button>
                  </div>
                )
              }
            />
          )}
        </Loaded>
      </Card>
      {making ? <NewUser close={() => setMaking(false)} made={open} /> : null}
    </Page>
  )
}
function NewUser({
  close,
  made,
}: {
  readonly close: () => void
  readonly made: (uid: number) => void
}): React.JSX.Element {
  const [login_name, setLogin] = useState('')
  const [email, setEmail] = useState('')
  const send = async (): Promise<void> => {
    const body = { login_name, ...(email !== '' && { email }) }
    made((await call('POST /operator/v1/users', { body })).user_id)
  }
  return (
    <FormModal
      title="New account"
      verb="Make it"
      ready={login_name !== ''}
      send={send}
      done="The account is made"
      refresh={[['shared', 'operate', 'users']]}
      close={close}
    >
      <TextInput
        label="Login name"
        value={login_name}
        onChange={(event) => setLogin(event.currentTarget.value)}
        data-autofocus
      />
      <TextInput
        label="Email (optional)"
        type="email"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
    </FormModal>
  )
}
