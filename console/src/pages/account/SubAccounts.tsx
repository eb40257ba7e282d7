import { Alert, Button, Modal, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import { chooseAccount, client, refreshOwn, useAccount, useOwn } from '../../api/query.ts'
import { dec, sum } from '../../lib/decimal.ts'
import { Amount } from '../../parts/Amount.tsx'
import { Copyable } from '../../parts/Copyable.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Status } from '../../parts/Status.tsx'
import { Empty, Failed, Loaded, toast, toastError } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { usePrices, worthOf } from '../wallet/money.ts'
import { useNavigate } from '@tanstack/react-router'

type Sub = Reply<'GET /api/v4/sub_accounts'>[number]
export function SubAccounts(): React.JSX.Element {
  const account = useAccount()
  if (account?.kind === 'sub')
    return (
      <Page title="Sub-accounts">
        <Alert color="yellow" title="You look at a sub-account">
          Sub-accounts are made and steered by the main account.
          <div style={{ marginTop: 8 }}>
            <Button size="xs" onClick={() => chooseAccount(undefined)}>
              Look at the main account
            </Button>
          </div>
        </Alert>
      </Page>
    )
  return <List />
}
function List(): React.JSX.Element {
  const navigate = useNavigate()
  const subs = useOwn(['subs'], () => call('GET /api/v4/sub_accounts', { query: {} }))
  const balances = useOwn(
    ['sub-balances'],
    () => call('GET /api/v4/wallet/sub_account_balances', { query: {} }),
    { every: 10_000 },
  ).data
  const price = usePrices()
  const [making, setMaking] = useState(false)
  const [locking, setLocking] = useState<Sub | undefined>(undefined)
  const [name, setName] = useState('')
  const [remark, setRemark] = useState('')
  const again = (): void => {
    void refreshOwn('subs')
    void client.invalidateQueries({ queryKey: ['session'] })
  }
  const make = useMutation({
    mutationFn: () =>
      call('POST /api/v4/sub_accounts', { body: { login_name: name, ...(remark !== '' && { remark }) } }),
    onSuccess: ({ login_name }) => {
      toast('Made', `${login_name} can be chosen at the top right.`)
      setMaking(false)
      setName('')
      setRemark('')
      again()
    },
  })
  const lock = useMutation({
    mutationFn: ({ user_id, state }: Sub) =>
      state === 1
        ? call('POST /api/v4/sub_accounts/{user_id}/lock', { path: { user_id } })
        : call('POST /api/v4/sub_accounts/{user_id}/unlock', { path: { user_id } }),
    onSuccess: () => {
      setLocking(undefined)
      again()
    },
    onError: toastError,
  })
  const worth = (userId: number) => {
    const row = balances?.find(({ uid }) => uid === String(userId))
    if (balances === undefined) return undefined
    if (row === undefined) return 0n
    return sum(
      [...Object.entries(row.available), ...Object.entries(row.locking)].map(
        ([currency, amount]) => worthOf(dec(amount), price(currency)) ?? 0n,
      ),
    )
  }
  const look = (userId: number, to: '/wallet' | '/keys'): void => {
    chooseAccount(userId)
    void navigate({ to })
  }
  const begin = <Button onClick={() => setMaking(true)}>Make a sub-account</Button>
  return (
    <Page
      title="Sub-accounts"
      lead="Each has its own balances, orders and keys. You see and steer all of them."
      actions={begin}
    >
      <Card flush label="Sub-accounts">
        <Loaded of={subs}>
          {(list) => (
            <Table
              label="Sub-accounts"
              columns={[
                { name: 'Name', cell: ({ login_name }) => <b>{login_name}</b> },
                {
                  name: 'Remark',
                  cell: ({ remark: words }) =>
                    words === '' ? <span className="dim">–</span> : <span className="wrap">{words}</span>,
                },
                {
                  name: 'User id',
                  cell: ({ user_id }) => <Copyable value={String(user_id)} what="user id" />,
                },
                {
                  name: 'Spot worth',
                  right: true,
                  cell: ({ user_id }) => <Amount value={worth(user_id)} places={2} fixed currency="USDT" />,
                },
                { name: 'State', cell: ({ state }) => <Status of={state === 1 ? 'normal' : 'locked'} /> },
                { name: 'Made', cell: ({ create_time }) => <Time at={create_time} form="minute" /> },
                {
                  name: 'Do',
                  quiet: true,
                  right: true,
                  cell: (sub) => (
                    <span className="row" style={{ justifyContent: 'flex-end' }}>
                      <Button
                        size="compact-xs"
                        variant="default"
                        onClick={() => look(sub.user_id, '/wallet')}
                        aria-label={`Look at ${sub.login_name}`}
                      >
                        Look at
                      </Button>
                      <Button
                        size="compact-xs"
                        variant="default"
                        onClick={() => look(sub.user_id, '/keys')}
                        aria-label={`Keys of ${sub.login_name}`}
                      >
                        Keys
                      </Button>
                      <Button
                        size="compact-xs"
                        variant="default"
                        onClick={() => void navigate({ to: '/wallet/transfers' })}
                        aria-label={`Transfer with ${sub.login_name}`}
                      >
                        Transfer
                      </Button>
                      <Button
                        size="compact-xs"
                        variant="default"
                        loading={lock.isPending && lock.variables.user_id === sub.user_id}
                        onClick={() => (sub.state === 1 ? setLocking(sub) : lock.mutate(sub))}
                        aria-label={`${sub.state === 1 ? 'Lock' : 'Unlock'} ${sub.login_name}`}
                      >
                        {sub.state === 1 ? 'Lock' : 'Unlock'}
                      </Button>
                    </span>
                  ),
                },
              ]}
              rows={list}
              rowKey={({ user_id }) => user_id}
              mark={({ state }) => String(state)}
              empty={<Empty action={begin}>There is no sub-account yet.</Empty>}
            />
          )}
        </Loaded>
      </Card>
      <Modal opened={making} onClose={() => setMaking(false)} title="Make a sub-account">
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault()
            make.mutate()
          }}
        >
          <TextInput
            label="Name"
            description="Letters, digits and _; for ever"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            required
            data-autofocus
          />
          <TextInput
            label="Remark"
            value={remark}
            onChange={(event) => setRemark(event.currentTarget.value)}
          />
          {make.error === null ? null : <Failed error={make.error} />}
          <Button type="submit" loading={make.isPending} disabled={name === ''}>
            Make it
          </Button>
        </form>
      </Modal>
      <Modal
        opened={locking !== undefined}
        onClose={() => setLocking(undefined)}
        title={`Lock ${locking?.login_name ?? ''}?`}
      >
        <div className="stack">
          <span>
            Its keys are refused and nothing can be placed until you unlock it. Its money stays where it is.
          </span>
          <Button
            color="red"
            loading={lock.isPending}
            onClick={() => locking !== undefined && lock.mutate(locking)}
          >
            Lock it
          </Button>
        </div>
      </Modal>
    </Page>
  )
}
