import { useSyncExternalStore } from 'react'

/** What the reader chose, kept in this browser. */
export interface Prefs {
  readonly theme: 'auto' | 'light' | 'dark'
  /** `plain`: green and red; `safe`: blue and orange. */
  readonly colours: 'plain' | 'safe'
  readonly hideSmall: boolean
  readonly market: string
  readonly contract: string
  readonly interval: string
  /** Ask before an order is sent. */
  readonly confirm: boolean
}
const KEY = 'kontor.prefs'
const FIRST: Prefs = {
  theme: 'auto',
  colours: 'plain',
  hideSmall: false,
  market: 'BTC_USDT',
  contract: 'BTC_USDT',
  interval: '15m',
  confirm: false,
}

function read(): Prefs {
  try {
    return { ...FIRST, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Prefs>) }
  } catch {
    return FIRST
  }
}
let now = read()
const listeners = new Set<() => void>()
export const prefs = (): Prefs => now
export function setPrefs(change: Partial<Prefs>): void {
  // Another tab, or a test, may have chosen something meanwhile.
  now = { ...read(), ...change }
  try {
    localStorage.setItem(KEY, JSON.stringify(now))
  } catch {
    // A browser that keeps nothing forgets it with the tab.
  }
  for (const listener of listeners) listener()
}
const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
export const usePrefs = (): Prefs => useSyncExternalStore(subscribe, prefs)
window.addEventListener('storage', ({ key }) => {
  if (key !== KEY) return
  now = read()
  for (const listener of listeners) listener()
})
