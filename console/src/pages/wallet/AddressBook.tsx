import { Button, Modal, Select, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { refreshOwn, useOwn, usePlatform } from '../../api/query.ts'
import { relative } from '../../lib/time.ts'
import { useNow } from '../../live/hooks.ts'
import { Copyable, ends } from '../../parts/Copyable.tsx'
import { Card } from '../../parts/Page.tsx'
import { Empty, Failed, Loaded, toastError } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { useCurrencies, useTagged } from './money.ts'

export const useAddresses = () => useOwn(['addresses'], () => call('GET /console/v1/addresses'))

/** Where money may go, by the account's own word: new ones cool down first. */
export function AddressBook(): React.JSX.Element {
  const addresses = useAddresses()
  const currencies = useCurrencies().data ?? []
  const now = useNow(usePlatform()?.clock_offset_ms ?? 0, 10_000)
  const [adding, setAdding] = useState(false)
  const [currencyName, setCurrency] = useState('BTC')
  const [chainName, setChain] = useState<string | null>(null)
  const [address, setAddress] = useState('')
  const [tag, setTag] = useState('')
  const [name, setName] = useState('')
  const currency = currencies.find((one) => one.currency === currencyName)
  const chain = currency?.chains.find((one) => one.name === chainName) ?? currency?.chains[0]
  const tagged = useTagged(currency?.currency, chain?.name)
  const add = useMutation({
    mutationFn: () =>
      call('POST /console/v1/addresses', {
        body: {
          currency: currencyName,
          address: address.trim(),
          ...(chain !== undefined && { chain: chain.name }),
          ...(name !== '' && { name }),
          ...(tag !== '' && { tag }),
        },
      }),
    onSuccess: () => {
      void refreshOwn('addresses')
      setAdding(false)
      setAddress('')
      setTag('')
      setName('')
    },
  })
  const remove = useMutation({
    mutationFn: (id: number) => call('DELETE /console/v1/addresses/{id}', { path: { id } }),
    onSuccess: () => void refreshOwn('addresses'),
    onError: toastError,
  })
  const begin = (
    <Button size="xs" variant="default" onClick={() => setAdding(true)}>
      Save an address
    </Button>
  )
  return (
    <Card title="Address book" flush actions={begin}>
      <Loaded of={addresses}>
        {(list) => (
          <Table
            label="Address book"
            columns={[
              {
                name: 'Name',
                cell: (one) => (one.name === '' ? <span className="dim">unnamed</span> : one.name),
              },
              { name: 'Currency', cell: (one) => `${one.currency} on ${one.chain}` },
              {
                name: 'Address',
                cell: (one) => <Copyable value={one.address} shown={ends(one.address, 10)} what="address" />,
              },
              {
                name: 'Tag',
                cell: (one) =>
                  one.tag === '' ? <span className="dim">–</span> : <Copyable value={one.tag} what="tag" />,
              },
              {
                name: 'Usable',
                cell: ({ usable_at }) =>
                  usable_at !== null && usable_at * 1000 > now ? (
                    <span className="wait">{relative(usable_at * 1000, now)}</span>
                  ) : (
                    <span className="up">✓ now</span>
                  ),
              },
              {
                name: 'Do',
                quiet: true,
                right: true,
                cell: ({ id, address: where }) => (
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={`Delete ${where}`}
                    loading={remove.isPending && remove.variables === id}
                    onClick={() => remove.mutate(id)}
                  >
                    Delete
                  </Button>
                ),
              },
            ]}
            rows={list}
            rowKey={({ id }) => id}
            empty={<Empty action={begin}>No address is saved yet.</Empty>}
          />
        )}
      </Loaded>
      <Modal opened={adding} onClose={() => setAdding(false)} title="Save an address">
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault()
            add.mutate()
          }}
        >
          <TextInput
            label="Name"
            placeholder="my cold wallet"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          <div className="cols-2">
            <Select
              label="Currency"
              searchable
              data={currencies.filter(({ chains }) => chains.length > 0).map((one) => one.currency)}
              value={currencyName}
              onChange={(next) => setCurrency(next ?? 'BTC')}
            />
            <Select
              label="Chain"
              data={currency?.chains.map((one) => one.name) ?? []}
              value={chain?.name ?? null}
              onChange={setChain}
            />
          </div>
          <TextInput
            label="Address"
            value={address}
            onChange={(event) => setAddress(event.currentTarget.value)}
            required
            autoComplete="off"
            spellCheck={false}
          />
          {tagged || tag !== '' ? (
            <TextInput
              label="Tag or memo"
              value={tag}
              onChange={(event) => setTag(event.currentTarget.value)}
              autoComplete="off"
            />
          ) : null}
          {add.error === null ? null : <Failed error={add.error} />}
          <Button type="submit" loading={add.isPending} disabled={address.trim() === ''}>
            Save
          </Button>
        </form>
      </Modal>
    </Card>
  )
}
