import { useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useRef } from 'react'
import type { Place } from './places.ts'

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))

/** `/` opens the command bar, `?` lists the keys, `g` and a letter go to a page. */
export function useKeys(
  places: readonly Place[],
  open: { readonly bar: () => void; readonly help: () => void },
): void {
  const navigate = useNavigate()
  // When `g` was pressed; a page that has just begun is no such moment.
  const waiting = useRef(-Infinity)
  const pressed = useEffectEvent((event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) {
      if (event.key === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault()
        open.bar()
      }
      return
    }
    if (typing(event.target) || document.querySelector('[role=dialog]') !== null) return
    if (event.timeStamp - waiting.current < 1500) {
      waiting.current = -Infinity
      const place = places.find(({ key }) => key === event.key)
      if (place !== undefined) {
        event.preventDefault()
        void navigate({ to: place.to })
      }
    } else if (event.key === 'g') waiting.current = event.timeStamp
    else if (event.key === '/') {
      event.preventDefault()
      open.bar()
    } else if (event.key === '?') open.help()
  })
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => pressed(event)
    window.addEventListener('keydown', listener)
    return () => window.removeEventListener('keydown', listener)
  }, [])
}
