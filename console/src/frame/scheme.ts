import { useEffect, useSyncExternalStore } from 'react'
import { usePrefs } from '../lib/prefs.ts'

const dark = window.matchMedia('(prefers-color-scheme: dark)')
const watch = (listener: () => void): (() => void) => {
  dark.addEventListener('change', listener)
  window.addEventListener('kontor:route', listener)
  return () => {
    dark.removeEventListener('change', listener)
    window.removeEventListener('kontor:route', listener)
  }
}
/** Trade is dark and all else as the system has it, unless the reader chose. */
const usual = (): 'light' | 'dark' =>
  dark.matches || location.pathname.startsWith('/trade') ? 'dark' : 'light'

export function useScheme(): 'light' | 'dark' {
  const { theme, colours } = usePrefs()
  const auto = useSyncExternalStore(watch, usual)
  useEffect(() => {
    document.documentElement.dataset['colours'] = colours
  }, [colours])
  return theme === 'auto' ? auto : theme
}
