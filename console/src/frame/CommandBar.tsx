import { Modal, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { chooseAccount, useSession, useShared } from '../api/query.ts'
import { setPrefs } from '../lib/prefs.ts'
import type { Place } from './places.ts'

export interface Action {
  readonly name: string
  readonly kind: string
  readonly words?: string
  readonly run: () => void
}
interface BarProps {
  readonly opened: boolean
  readonly close: () => void
  readonly places: readonly Place[]
  readonly help: () => void
}
/** Pages, markets, accounts and actions by a few letters of their names. */
export function CommandBar({ opened, close, places, help }: BarProps): React.JSX.Element {
  return (
    <Modal
      opened={opened}
      onClose={close}
      withCloseButton={false}
      padding={0}
      yOffset="10dvh"
      centered={false}
      title="Search or command"
      classNames={{ header: 'sr' }}
    >
      <Bar close={close} places={places} help={help} />
    </Modal>
  )
}
function Bar({ close, places, help }: Omit<BarProps, 'opened'>): React.JSX.Element {
  const navigate = useNavigate()
  const session = useSession()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const markets = useShared(['pairs'], () => call('GET /api/v4/spot/currency_pairs'), { stale: 300_000 })
  const actions: Action[] = [
    ...places.map(({ name, to, words = '', room }) => ({
      name,
      words,
      kind: room === 'account' ? 'page' : room,
      run: () => void navigate({ to }),
    })),
    ...(markets.data ?? []).map(({ id }) => ({
      name: id,
      kind: 'market',
      words: id.replace('_', ' '),
      run: () => void navigate({ to: '/trade/$pair', params: { pair: id } }),
    })),
    ...(session?.account?.accounts ?? []).map(({ user_id, login_name, kind }) => ({
      name: login_name,
      kind: 'account',
      words: String(user_id),
      run: () => chooseAccount(kind === 'main' ? undefined : user_id),
    })),
    { name: 'Light theme', kind: 'action', words: 'bright', run: () => setPrefs({ theme: 'light' }) },
    { name: 'Dark theme', kind: 'action', words: 'night', run: () => setPrefs({ theme: 'dark' }) },
    { name: 'Keyboard shortcuts', kind: 'help', run: help },
    { name: 'API reference', kind: 'page', words: 'docs', run: () => location.assign('/docs') },
  ]
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = actions
    .filter(({ name, words: more = '', kind }) => {
      const all = `${name} ${more} ${kind}`.toLowerCase()
      return words.every((word) => all.includes(word))
    })
    .sort((a, b) => rank(a, words) - rank(b, words))
    .slice(0, 12)
  const choose = (action: Action | undefined): void => {
    if (action === undefined) return
    close()
    action.run()
  }
  return (
    <>
      <TextInput
        data-autofocus
        size="md"
        variant="unstyled"
        px="md"
        placeholder="Page, market, account or action"
        aria-label="Search or command"
        role="combobox"
        aria-expanded
        aria-controls="bar-list"
        aria-activedescendant={found.length > 0 ? `bar-${Math.min(at, found.length - 1)}` : undefined}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault()
            const step = event.key === 'ArrowDown' ? 1 : -1
            setAt((last) => (last + step + found.length) % Math.max(1, found.length))
          } else if (event.key === 'Enter') choose(found[Math.min(at, found.length - 1)])
        }}
      />
      <div id="bar-list" role="listbox" aria-label="Results" className="bar-list">
        {found.map((action, i) => (
          <div
            key={`${action.kind} ${action.name}`}
            id={`bar-${i}`}
            role="option"
            aria-selected={i === at}
            className="bar-item"
            onMouseEnter={() => setAt(i)}
            onClick={() => choose(action)}
          >
            <span>{action.name}</span>
            <span className="dim small">{action.kind}</span>
          </div>
        ))}
        {found.length === 0 ? <div className="bar-item dim">Nothing is called so.</div> : null}
      </div>
    </>
  )
}
const rank = ({ name }: Action, words: readonly string[]): number =>
  words.length > 0 && name.toLowerCase().startsWith(words[0]!) ? 0 : 1
