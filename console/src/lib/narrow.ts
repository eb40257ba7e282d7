import { useSyncExternalStore } from 'react'

const phone = window.matchMedia('(max-width: 760px)')
const watch = (listener: () => void): (() => void) => {
  phone.addEventListener('change', listener)
  return () => phone.removeEventListener('change', listener)
}
/** As wide as a phone: the same width as in app.css. */
export const useNarrow = (): boolean => useSyncExternalStore(watch, () => phone.matches)
