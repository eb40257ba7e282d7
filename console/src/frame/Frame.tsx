import { ActionIcon, Menu, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { call } from '../api/client.ts'
import {
  chooseAccount,
  client,
  keep,
  platformQuery,
  sessionQuery,
  useAccount,
  usePlatform,
} from '../api/query.ts'
import type { Session } from '../api/own.ts'
import { prefs, setPrefs } from '../lib/prefs.ts'
import { clockText, exactText, minuteText, shortText, span, utcText } from '../lib/time.ts'
import { LineContext, useLine, useLineView, useNow } from '../live/hooks.ts'
import { Failed, Loading, toastError } from '../parts/states.tsx'
import { Icon } from '../parts/icons.tsx'
import { CommandBar } from './CommandBar.tsx'
import { useKeys } from './keys.ts'
import { KeysHelp } from './KeysHelp.tsx'
import { PLACES, type Place } from './places.ts'
import { useScheme } from './scheme.ts'

/** What stands around every page of somebody who is signed in. */
export function Frame(): React.JSX.Element {
  const session = useQuery(sessionQuery)
  const { pathname } = useLocation()
  const navigate = useNavigate()
  useEffect(() => {
    window.dispatchEvent(new Event('kontor:route'))
  }, [pathname])
  const nobody = session.data?.account === null && session.data.operator === null
  useEffect(() => {
    // While the other page is on its way this one still stands, with the new path.
    if (nobody && pathname !== '/sign-in')
      void navigate({ to: '/sign-in', search: pathname === '/' ? {} : { then: pathname }, replace: true })
  }, [nobody, navigate, pathname])
  if (session.data === undefined || nobody)
    return (
      <div className="center-page">
        <div className="card">
          {session.error === null ? (
            <Loading rows={4} />
          ) : (
            <Failed error={session.error} retry={() => void session.refetch()} />
          )}
        </div>
      </div>
    )
  return <Inside session={session.data} />
}

function Inside({ session }: { readonly session: Session }): React.JSX.Element {
  const line = useLine(session.account === null ? undefined : '/console/ws')
  const [bar, setBar] = useState(false)
  const [help, setHelp] = useState(false)
  const places = usePlaces(session)
  useKeys(places, { bar: () => setBar(true), help: () => setHelp(true) })
  return (
    <LineContext value={line}>
      <div className="frame">
        <a className="sr" href="#main">
          Skip to the page
        </a>
        <Head session={session} openBar={() => setBar(true)} openHelp={() => setHelp(true)} />
        <Side places={places} />
        <main className="main" id="main" tabIndex={0}>
          <Offline />
          <Outlet />
        </main>
        <Bottom places={places} />
      </div>
      <CommandBar opened={bar} close={() => setBar(false)} places={places} help={() => setHelp(true)} />
      <KeysHelp opened={help} close={() => setHelp(false)} places={places} />
    </LineContext>
  )
}
function usePlaces(session: Session): readonly Place[] {
  const rooms = usePlatform()?.rooms
  return useMemo(
    () =>
      PLACES.filter(({ room }) =>
        room === 'operator'
          ? session.operator !== null
          : room === 'lab'
            ? session.mode === 'sandbox' && rooms?.includes('lab') !== false
            : session.account !== null,
      ),
    [session, rooms],
  )
}

function Head({
  session,
  openBar,
  openHelp,
}: {
  readonly session: Session
  readonly openBar: () => void
  readonly openHelp: () => void
}): React.JSX.Element {
  const scheme = useScheme()
  return (
    <header className="head">
      <Link to="/" className="brand" aria-label="Kontor, home">
        <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden>
          <rect width="32" height="32" rx="7" fill="#3b5bdb" />
          <path
            d="M9 7v18M10 17l11-10M13.500 14.500L22 25"
            stroke="#fff"
            strokeWidth="3.400"
            fill="none"
            strokeLinecap="round"
          />
        </svg>
        <span className="wide">Kontor</span>
      </Link>
      {session.mode === 'sandbox' ? <span className="badge-sandbox">Sandbox</span> : null}
      <span className="grow" />
      <UnstyledButton
        className="row"
        onClick={openBar}
        aria-label="Search or command"
        style={{ color: 'var(--dim)', gap: 8 }}
      >
        <Icon name="search" />
        <span className="wide small">
          Search or command <kbd>/</kbd>
        </span>
      </UnstyledButton>
      <Clock />
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={scheme === 'dark' ? 'Use the light theme' : 'Use the dark theme'}
        onClick={() => setPrefs({ theme: scheme === 'dark' ? 'light' : 'dark' })}
      >
        <Icon name={scheme === 'dark' ? 'moon' : 'sun'} />
      </ActionIcon>
      <WhoMenu session={session} openHelp={openHelp} />
    </header>
  )
}

/** A day less a few milliseconds is a day. */
const nearest = (ms: number): number => (ms < 60_000 ? ms : Math.round(ms / 60_000) * 60_000)
function Clock(): React.JSX.Element {
  const platform = usePlatform()
  const offset = platform?.clock_offset_ms ?? 0
  const now = useNow(offset)
  const moved = Math.abs(offset) >= 1000
  return (
    <span
      className={moved ? 'clock moved' : 'clock wide'}
      title={`${exactText(now)}\n${utcText(now)}${moved ? '\nthe sandbox clock was moved' : ''}`}
    >
      <b className={moved ? 'wide' : undefined}>{moved ? shortText(now) : clockText(now)}</b>
      {moved ? ` (${offset > 0 ? '+' : '−'}${span(nearest(Math.abs(offset)))})` : ''}
    </span>
  )
}

function WhoMenu({
  session,
  openHelp,
}: {
  readonly session: Session
  readonly openHelp: () => void
}): React.JSX.Element {
  const account = useAccount()
  const navigate = useNavigate()
  const name = account?.login_name ?? session.operator?.name ?? ''
  const leave = async (): Promise<void> => {
    try {
      await call('POST /console/v1/sign-out', { body: {} })
    } catch (error) {
      toastError(error)
      return
    }
    chooseAccount(undefined)
    client.clear()
    keep({ account: null, operator: null, mode: session.mode })
    await navigate({ to: '/sign-in' })
  }
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <UnstyledButton className="row" style={{ gap: 4, fontWeight: 600 }} aria-label={`Account ${name}`}>
          <span style={{ maxWidth: 140, overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }}>
            {name}
          </span>
          <span aria-hidden className="dim">
            ▾
          </span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {session.account === null ? null : (
          <>
            <Menu.Label>Look at</Menu.Label>
            {session.account.accounts.map(({ user_id, login_name, kind, state }) => (
              <Menu.Item
                key={user_id}
                onClick={() => chooseAccount(kind === 'main' ? undefined : user_id)}
                leftSection={user_id === account?.user_id ? '●' : '○'}
                rightSection={
                  <span className="dim small">
                    {kind === 'main' ? 'main' : state === 1 ? 'sub' : 'sub, locked'}
                  </span>
                }
              >
                {login_name}
              </Menu.Item>
            ))}
          </>
        )}
        {session.operator === null ? null : (
          <Menu.Label>
            Operator {session.operator.name} ({session.operator.role})
          </Menu.Label>
        )}
        <Menu.Divider />
        {session.account === null ? null : (
          <Menu.Item onClick={() => void navigate({ to: '/settings' })}>Settings</Menu.Item>
        )}
        <Menu.Item onClick={() => setPrefs({ colours: prefs().colours === 'plain' ? 'safe' : 'plain' })}>
          Colours: green and red / blue and orange
        </Menu.Item>
        <Menu.Item onClick={() => setPrefs({ theme: 'auto' })}>Theme as the system has it</Menu.Item>
        <Menu.Item onClick={openHelp} rightSection={<kbd>?</kbd>}>
          Keyboard
        </Menu.Item>
        <Menu.Item component="a" href="/docs">
          API reference
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => void leave()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function Side({ places }: { readonly places: readonly Place[] }): React.JSX.Element {
  const rooms = [
    ['account', undefined],
    ['lab', 'Lab'],
    ['operator', 'Operator'],
  ] as const
  return (
    <nav className="side" aria-label="Pages">
      {rooms.map(([room, title]) => {
        const own = places.filter((place) => place.room === room)
        return own.length === 0 ? null : (
          <div key={room}>
            {title === undefined ? null : <h2>{title}</h2>}
            <ul>
              {own.map(({ to, name, below = false }) => (
                <li key={to}>
                  {below ? (
                    <ul>
                      <li>
                        <SideLink to={to} name={name} />
                      </li>
                    </ul>
                  ) : (
                    <SideLink to={to} name={name} />
                  )}
                </li>
              ))}
            </ul>
          </div>
        )
      })}
    </nav>
  )
}
/** The router marks the link of the page that is shown. */
function SideLink({ to, name }: { readonly to: string; readonly name: string }): React.JSX.Element {
  return (
    <Link to={to} preload="intent" activeOptions={{ exact: to === '/wallet', includeSearch: false }}>
      {name}
    </Link>
  )
}

function Bottom({ places }: { readonly places: readonly Place[] }): React.JSX.Element {
  const { pathname } = useLocation()
  const navigate = useNavigate()
  const main = places.filter(({ icon }) => icon !== undefined).slice(0, 4)
  return (
    <nav className="bottom" aria-label="Pages">
      {main.map(({ to, name, icon }) => (
        <Link
          key={to}
          to={to}
          aria-current={pathname === to || pathname.startsWith(`${to}/`) ? 'page' : undefined}
        >
          <Icon name={icon!} size={20} />
          {name}
        </Link>
      ))}
      <Menu position="top-end" width={220}>
        <Menu.Target>
          <button
            type="button"
            aria-current={
              main.every(({ to }) => pathname !== to && !pathname.startsWith(`${to}/`)) ? 'page' : undefined
            }
          >
            <Icon name="more" size={20} />
            More
          </button>
        </Menu.Target>
        <Menu.Dropdown mah="70dvh" style={{ overflowY: 'auto' }}>
          {places
            .filter((place) => !main.includes(place))
            .map(({ to, name, room }) => (
              <Menu.Item
                key={to}
                onClick={() => void navigate({ to })}
                rightSection={room === 'account' ? null : <span className="dim small">{room}</span>}
              >
                {name}
              </Menu.Item>
            ))}
        </Menu.Dropdown>
      </Menu>
    </nav>
  )
}

/** The line is lost: what stands here is as of its time. */
function Offline(): React.JSX.Element | null {
  const { state, lastAt } = useLineView()
  const platform = useQuery(platformQuery)
  if (state !== 'down') return null
  return (
    <div className="offline" role="status">
      Offline: what you see is as of {minuteText(lastAt + (platform.data?.clock_offset_ms ?? 0))}. It catches
      up by itself.
    </div>
  )
}
