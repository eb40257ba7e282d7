import { display } from '../../lib/decimal.ts'
import { clockText, exactText, millis, utcText } from '../../lib/time.ts'
import { Empty, Loading } from '../../parts/states.tsx'
import { useTrades, type Look, type Pair, type PublicTrade } from './market.ts'

export function TradesPanel({ pair }: { readonly pair: Pair }): React.JSX.Element {
  return <TradesList pair={pair} {...useTrades(pair.id)} />
}
interface ListProps {
  readonly pair: Look
  readonly list: readonly Pick<PublicTrade, 'id' | 'price' | 'amount' | 'side' | 'create_time_ms'>[]
  readonly ready: boolean
}
export function TradesList({ pair, list, ready }: ListProps): React.JSX.Element {
  return (
    <section className="card trades" aria-label="Trades">
      <div className="card-head">
        <h2>Trades</h2>
      </div>
      {!ready ? (
        <Loading rows={12} height={16} />
      ) : list.length === 0 ? (
        <Empty>Nobody has traded here yet.</Empty>
      ) : (
        <div
          className="trades-list num"
          tabIndex={0}
          role="log"
          aria-live="off"
          aria-label="Trades, the newest first"
        >
          {list.map(({ id, price, amount, side, create_time_ms }) => {
            const at = millis(create_time_ms) ?? 0
            return (
              <div key={id} className="trade-row">
                <span className={side === 'buy' ? 'up' : 'down'}>
                  {side === 'buy' ? '▲' : '▼'} {display(price, { places: pair.precision, fixed: true })}
                </span>
                <span>{display(amount)}</span>
                <time className="dim" title={`${exactText(at)}\n${utcText(at)}`}>
                  {clockText(at)}
                </time>
              </div>
            )
          })}
        </div>
      )}
    </section>
  )
}
