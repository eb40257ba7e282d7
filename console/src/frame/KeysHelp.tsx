import { Modal } from '@mantine/core'
import type { Place } from './places.ts'

interface HelpProps {
  readonly opened: boolean
  readonly close: () => void
  readonly places: readonly Place[]
}
export function KeysHelp({ opened, close, places }: HelpProps): React.JSX.Element {
  const keys: readonly (readonly [string, string])[] = [
    ['/', 'search or command'],
    ['?', 'this list'],
    ['Esc', 'close'],
    ['b  s', 'on Trade: buy, sell'],
    ...places.flatMap(({ key, name }) => (key === undefined ? [] : ([[`g ${key}`, name]] as const))),
  ]
  return (
    <Modal opened={opened} onClose={close} title="Keyboard">
      <dl className="facts">
        {keys.map(([key, what]) => (
          <div key={key} style={{ display: 'contents' }}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p className="dim small">
        Charts: Lightweight Charts™ by TradingView (Apache License 2.0), tradingview.com.
      </p>
    </Modal>
  )
}
