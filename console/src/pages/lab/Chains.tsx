import { Button, Select, TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import { client, useAccount, useShared } from '../../api/query.ts'
import { ActionButton } from '../../parts/ActionButton.tsx'
import { Amount } from '../../parts/Amount.tsx'
import { AmountInput } from '../../parts/AmountInput.tsx'
import { Copyable, ends } from '../../parts/Copyable.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Failed, Loaded, toast, toastError } from '../../parts/states.tsx'
import { Status } from '../../parts/Status.tsx'
import { Table } from '../../parts/Table.tsx'
import { WithOperator } from './common.tsx'

type Chain = Reply<'GET /operator/v1/chains'>[number]
type Tx = Reply<'GET /operator/v1/chains/{chain}/transactions'>[number]
const STRIP = 12
const again = (): Promise<void> => client.invalidateQueries()

export function Chains(): React.JSX.Element {
  return (
    <Page
      title="Chains"
      lead="Simulated chains: pay in, mine, take blocks back, let a transaction be stuck or lost."
    >
      <WithOperator>
        <Steer />
      </WithOperator>
    </Page>
  )
}
function Steer(): React.JSX.Element {
  const chains = useShared(['lab', 'chains'], () => call('GET /operator/v1/chains'), {
    every: 2_000,
    stale: 500,
  })
  const [name, setName] = useState('ETH')
  return (
    <Loaded of={chains}>
      {(list) => {
        const simulated = list.filter(({ kind }) => kind === 'simulated')
        const chain = simulated.find((one) => one.chain === name) ?? simulated[0]
        if (chain === undefined)
          return (
            <Card>
              <Empty>No chain is simulated here.</Empty>
            </Card>
          )
        return (
          <>
            <div className="row">
              <Select
                aria-label="Chain"
                w={200}
                data={simulated.map((one) => ({ value: one.chain, label: `${one.chain} ${one.name_en}` }))}
                value={chain.chain}
                onChange={(value) => setName(value ?? '')}
              />
            </div>
            <Blocks key={`b ${chain.chain}`} of={chain} />
            <div className="cols-main">
              <Transactions key={`t ${chain.chain}`} of={chain} />
              <Faucet key={`f ${chain.chain}`} of={chain} />
            </div>
          </>
        )
      }}
    </Loaded>
  )
}

/** The newest blocks: the way back is chosen by the block that is to be the top one. */
function Blocks({ of }: { readonly of: Chain }): React.JSX.Element {
  const [back, setBack] = useState(0)
  // Where there is no room for all of them the newest are seen.
  const strip = useRef<HTMLDivElement>(null)
  useEffect(() => {
    strip.current?.scrollTo({ left: strip.current.scrollWidth })
  }, [of.height])
  const path = { chain: of.chain }
  const mine = async (blocks: number): Promise<void> => {
    try {
      const { height } = await call('POST /operator/v1/chains/{chain}/mine', { path, body: { blocks } })
      toast(`${of.chain} is at ${height}`)
      await again()
    } catch (error) {
      toastError(error)
    }
  }
  const heights = Array.from(
    { length: Math.min(STRIP, of.height) },
    (_, i) => of.height - Math.min(STRIP, of.height) + 1 + i,
  )
  return (
    <Card
      title={`${of.chain} at block ${of.height}`}
      actions={
        <>
          <span className="dim small">
            {of.auto_mine_seconds === 0 ? 'mined by hand' : `a block every ${of.auto_mine_seconds} s`},
            credited after {of.min_confirms}
          </span>
          <Button size="xs" onClick={() => void mine(1)}>
            Mine 1
          </Button>
          <Button size="xs" variant="default" onClick={() => void mine(of.unlock_confirms)}>
            Mine {of.unlock_confirms}
          </Button>
        </>
      }
    >
      <div className="stack">
        <div
          ref={strip}
          className="blocks"
          role="group"
          aria-label="Newest blocks; choose one to take back all from there"
        >
          {heights.map((height) => {
            const depth = of.height - height + 1
            return (
              <button
                key={height}
                type="button"
                className={back >= depth ? 'block gone' : 'block'}
                aria-pressed={back >= depth}
                title={`take back ${depth} block${depth === 1 ? '' : 's'}`}
                onClick={() => setBack(back === depth ? 0 : depth)}
              >
                {height}
              </button>
            )
          })}
        </div>
        {back === 0 ? (
          <span className="dim small">
            Click a block: it and all above it are replaced by a reorganisation.
          </span>
        ) : (
          <div className="row">
            <ActionButton
              label={`Reorganise ${back} block${back === 1 ? '' : 's'}`}
              color="red"
              act={async () => {
                await call('POST /operator/v1/chains/{chain}/reorg', { path, body: { depth: back } })
                setBack(0)
                await again()
              }}
            >
              {back} block{back === 1 ? ' is' : 's are'} replaced by others of the same length. Transactions
              stay, unless you let one be lost below.
            </ActionButton>
            <Button size="xs" variant="subtle" onClick={() => setBack(0)}>
              Leave it
            </Button>
          </div>
        )}
      </div>
    </Card>
  )
}

function Transactions({ of }: { readonly of: Chain }): React.JSX.Element {
  const path = { chain: of.chain }
  const list = useShared(
    ['lab', 'transactions', of.chain],
    () => call('GET /operator/v1/chains/{chain}/transactions', { path }),
    { every: 2_000, stale: 500 },
  )
  const change = async (tx: Tx, state: 'pending' | 'stuck' | 'lost' | 'failed'): Promise<void> => {
    try {
      await call('PATCH /operator/v1/chains/{chain}/transactions/{txid}', {
        path: { chain: of.chain, txid: tx.txid },
        body: { state },
      })
      await again()
    } catch (error) {
      toastError(error)
    }
  }
  return (
    <Card title="Transactions that are not final" flush>
      <Loaded of={list}>
        {(rows) => (
          <Table
            label="Transactions that are not final"
            rows={rows}
            rowKey={({ txid }) => txid}
            mark={({ state }) => state}
            empty={<Empty>None. Pay something in, or withdraw something.</Empty>}
            columns={[
              {
                name: 'transaction',
                cell: ({ txid }) => <Copyable value={txid} shown={ends(txid)} what="the transaction" />,
              },
              { name: 'kind', cell: ({ kind }) => kind },
              {
                name: 'amount',
                right: true,
                cell: ({ amount, currency }) => <Amount value={amount} currency={currency} />,
              },
              {
                name: 'block',
                right: true,
                cell: ({ block_number }) =>
                  block_number === '0' ? 'none' : `${block_number} (${of.height - Number(block_number) + 1})`,
              },
              { name: 'state', cell: ({ state }) => <Status of={state} /> },
              {
                name: 'let it be',
                right: true,
                cell: (tx) => (
                  <Select
                    aria-label={`What becomes of ${ends(tx.txid)}`}
                    size="xs"
                    w={120}
                    placeholder="let it be …"
                    value={null}
                    data={['pending', 'stuck', 'lost', 'failed']}
                    onChange={(value) => void change(tx, value as 'pending')}
                  />
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  )
}

/** A payment from outside, to an account of the reader's choice. */
function Faucet({ of }: { readonly of: Chain }): React.JSX.Element {
  const own = useAccount()
  const currencies = useShared(['lab', 'currencies'], () => call('GET /operator/v1/currencies'))
  const here = (currencies.data ?? []).filter(({ chains }) => chains.some(({ chain }) => chain === of.chain))
  const [currency, setCurrency] = useState(of.native)
  const [amount, setAmount] = useState('1')
  const [user, setUser] = useState(own === undefined ? '' : String(own.user_id))
  const [error, setError] = useState<unknown>(undefined)
  const pay = async (): Promise<void> => {
    setError(undefined)
    try {
      await call('POST /operator/v1/chains/{chain}/deposits', {
        path: { chain: of.chain },
        body: { user_id: Number(user), currency, amount },
      })
      toast('It is on its way', 'It is credited when enough blocks are above it.')
      await again()
    } catch (caught) {
      setError(caught)
    }
  }
  return (
    <Card title="Faucet">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void pay()
        }}
      >
        <span className="dim">A payment from outside arrives on {of.chain}.</span>
        <TextInput
          label="For which account"
          inputMode="numeric"
          value={user}
          onChange={(event) => setUser(event.currentTarget.value.replace(/\D/g, ''))}
        />
        <Select
          label="Currency"
          data={here.map((one) => one.currency)}
          value={currency}
          onChange={(value) => setCurrency(value ?? of.native)}
        />
        <AmountInput label="Amount" currency={currency} value={amount} onChange={setAmount} />
        {error === undefined ? null : <Failed error={error} />}
        <Button type="submit" disabled={user === '' || amount === ''}>
          Pay in
        </Button>
      </form>
    </Card>
  )
}
