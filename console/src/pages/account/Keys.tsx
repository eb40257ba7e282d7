import { Button, Modal } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import { refreshOwn, useAccount, useOwn } from '../../api/query.ts'
import { Copyable, ends } from '../../parts/Copyable.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Loaded, toast, toastError } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { KeyForm, Perms, Secret, type KeyDraft } from './keyForm.tsx'

type Key = Reply<'GET /console/v1/keys'>[number]
type Shown =
  | { readonly kind: 'new' }
  | { readonly kind: 'made'; readonly key: string; readonly secret: string }
  | { readonly kind: 'change' | 'delete'; readonly key: Key }

export function Keys(): React.JSX.Element {
  const account = useAccount()
  const keys = useOwn(['keys'], () => call('GET /console/v1/keys'), { every: 30_000 })
  const [shown, setShown] = useState<Shown | undefined>(undefined)
  const close = (): void => setShown(undefined)
  const make = useMutation({
    mutationFn: (draft: KeyDraft) => call('POST /console/v1/keys', { body: { mode: 1, ...draft } }),
    onSuccess: ({ key, secret }) => {
      void refreshOwn('keys')
      setShown({ kind: 'made', key, secret })
    },
  })
  const change = useMutation({
    mutationFn: ({ key, draft }: { readonly key: string; readonly draft: KeyDraft }) =>
      call('PUT /console/v1/keys/{key}', { path: { key }, body: draft }),
    onSuccess: () => {
      void refreshOwn('keys')
      toast('Changed', 'It holds from now on.')
      close()
    },
  })
  const remove = useMutation({
    mutationFn: (key: string) => call('DELETE /console/v1/keys/{key}', { path: { key } }),
    onSuccess: () => {
      void refreshOwn('keys')
      close()
    },
    onError: toastError,
  })
  const begin = (
    <Button
      onClick={() => {
        make.reset()
        setShown({ kind: 'new' })
      }}
    >
      Make a key
    </Button>
  )
  return (
    <Page
      title="API keys"
      lead={`Keys of ${account?.login_name ?? 'the account'}, for programs. What a key may do is what you tick.`}
      actions={begin}
    >
      <Card flush label="Keys">
        <Loaded of={keys}>
          {(list) => (
            <Table
              label="API keys"
              columns={[
                {
                  name: 'Name',
                  cell: ({ name }) => (name === '' ? <span className="dim">unnamed</span> : <b>{name}</b>),
                },
                { name: 'Key', cell: ({ key }) => <Copyable value={key} shown={ends(key, 6)} what="key" /> },
                { name: 'May', cell: ({ perms }) => <Perms of={perms} /> },
                {
                  name: 'From',
                  cell: ({ ip_whitelist }) => (
                    <span className="small">
                      {ip_whitelist.length === 0 ? 'everywhere' : ip_whitelist.join(', ')}
                    </span>
                  ),
                },
                { name: 'Made', cell: ({ created_at }) => <Time at={created_at} form="minute" /> },
                {
                  name: 'Last used',
                  cell: ({ last_access }) =>
                    last_access === 0 ? (
                      <span className="dim">never</span>
                    ) : (
                      <Time at={last_access} form="relative" />
                    ),
                },
                {
                  name: 'Do',
                  quiet: true,
                  right: true,
                  cell: (key) => (
                    <span className="row" style={{ justifyContent: 'flex-end', flexWrap: 'nowrap' }}>
                      <Button
                        size="compact-xs"
                        variant="default"
                        aria-label={`Change key ${key.name}`}
                        onClick={() => setShown({ kind: 'change', key })}
                      >
                        Change
                      </Button>
                      <Button
                        size="compact-xs"
                        variant="default"
                        aria-label={`Delete key ${key.name}`}
                        onClick={() => setShown({ kind: 'delete', key })}
                      >
                        Delete
                      </Button>
                    </span>
                  ),
                },
              ]}
              rows={list}
              rowKey={({ key }) => key}
              empty={<Empty action={begin}>There is no key yet.</Empty>}
            />
          )}
        </Loaded>
      </Card>
      <Modal
        opened={shown !== undefined}
        onClose={close}
        closeOnClickOutside={shown?.kind !== 'made'}
        title={
          shown?.kind === 'made'
            ? 'The key is made'
            : shown?.kind === 'change'
              ? 'Change the key'
              : shown?.kind === 'delete'
                ? 'Delete the key?'
                : 'Make a key'
        }
      >
        {shown?.kind === 'new' ? (
          <KeyForm
            sub={account?.kind === 'sub'}
            busy={make.isPending}
            error={make.error}
            verb="Make the key"
            submit={(draft) => make.mutate(draft)}
          />
        ) : null}
        {shown?.kind === 'made' ? <Secret made={shown.key} secret={shown.secret} close={close} /> : null}
        {shown?.kind === 'change' ? (
          <KeyForm
            sub={account?.kind === 'sub'}
            busy={change.isPending}
            error={change.error}
            first={shown.key}
            verb="Change the key"
            submit={(draft) => change.mutate({ key: shown.key.key, draft })}
          />
        ) : null}
        {shown?.kind === 'delete' ? (
          <div className="stack">
            <span>
              Programs that use “{shown.key.name}” are refused from then on, and their sockets are closed.
            </span>
            <Button color="red" loading={remove.isPending} onClick={() => remove.mutate(shown.key.key)}>
              Delete it
            </Button>
          </div>
        ) : null}
      </Modal>
    </Page>
  )
}
