import { Menu, Modal, UnstyledButton, TextInput } from '@mantine/core'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Suspense, lazy, useCallback, useEffect, useMemo, useState } from 'react'
import { setPrefs } from '../../lib/prefs.ts'
import { dec, display } from '../../lib/decimal.ts'
import { useBook } from '../../live/hooks.ts'
import { Change } from '../../parts/Amount.tsx'
import { useTitle } from '../../parts/Page.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import './trade.css'
import { BookPanel } from './BookPanel.tsx'
import { spotCandles } from './candles.ts'
import { Depth } from './Depth.tsx'
import {
  useAccountStreams,
  useIndexPrice,
  useOpenOrders,
  usePairs,
  useTicker,
  useTickers,
  type Dragged,
  type Pair,
  type Ticker,
} from './market.ts'
import { OrderForm, type Picked } from './OrderForm.tsx'
import { Amend, Orders, useFills } from './Orders.tsx'
import { TradesPanel } from './TradesPanel.tsx'
import { useNarrow } from '../../lib/narrow.ts'

const Chart = lazy(() => import('./Chart.tsx'))

export function Trade(): React.JSX.Element {
  const { pair: name } = useParams({ from: '/frame/trade/$pair' })
  const pairs = usePairs()
  const pair = pairs.data?.find(({ id }) => id === name.toUpperCase())
  useEffect(() => {
    if (pair !== undefined) setPrefs({ market: pair.id })
  }, [pair])
  if (pairs.data === undefined)
    return pairs.error === null ? (
      <Loading rows={10} height={32} />
    ) : (
      <Failed error={pairs.error} retry={() => void pairs.refetch()} />
    )
  if (pair === undefined)
    return (
      <Empty action={<a href={`/trade/${pairs.data[0]?.id ?? ''}`}>Go to {pairs.data[0]?.id}</a>}>
        There is no market {name.slice(0, 40)}.
      </Empty>
    )
  return <Market key={pair.id} pair={pair} />
}

const NONE: readonly never[] = []
type Tab = 'chart' | 'book' | 'form' | 'orders'
function Market({ pair }: { readonly pair: Pair }): React.JSX.Element {
  useAccountStreams()
  const ticker = useTicker(pair.id)
  const { book, version } = useBook('spot.obu', `ob.${pair.id}.400`)
  const orders = useOpenOrders().data ?? NONE
  const fills = useFills(pair.id).data ?? NONE
  const [view, setView] = useState<'candles' | 'depth'>('candles')
  const [picked, setPicked] = useState<Picked | undefined>(undefined)
  const [tab, setTab] = useState<Tab>('chart')
  const [dragged, setDragged] = useState<Dragged | undefined>(undefined)
  const moved = orders.find(({ id }) => id === dragged?.id)
  const here = useMemo(() => orders.filter((one) => one.currency_pair === pair.id), [orders, pair.id])
  const narrow = useNarrow()
  const pick = useCallback((price: string, amount: string, side: 'buy' | 'sell') => {
    setPicked((last) => ({ price, amount, side, serial: (last?.serial ?? 0) + 1 }))
    setTab((now) => (now === 'book' ? 'form' : now))
  }, [])
  // A market where nobody has traded yet has no last price.
  const last = ticker === undefined || dec(ticker.last) === 0n ? undefined : ticker.last
  useTitle(`${last === undefined ? '' : `${display(last)} `}${pair.id}`)
  const shown = (which: Tab): boolean => !narrow || tab === which
  return (
    <div className="trade">
      <Bar pair={pair} ticker={ticker} />
      {narrow ? (
        <div className="trade-tabs" role="tablist" aria-label="Parts">
          {(['chart', 'book', 'form', 'orders'] as const).map((one) => (
            <button
              key={one}
              type="button"
              role="tab"
              aria-selected={tab === one}
              onClick={() => setTab(one)}
            >
              {
                {
                  chart: 'Chart',
                  book: 'Book',
                  form: 'Order',
                  orders: `Orders${orders.length === 0 ? '' : ` ${orders.length}`}`,
                }[one]
              }
            </button>
          ))}
        </div>
      ) : null}
      {shown('chart') ? (
        <section className="card chart-card" aria-label="Chart">
          <div className="view-tools" role="group" aria-label="Kind of chart">
            {(['candles', 'depth'] as const).map((one) => (
              <button
                key={one}
                type="button"
                className="chip"
                aria-pressed={view === one}
                onClick={() => setView(one)}
              >
                {one === 'candles' ? 'Candles' : 'Depth'}
              </button>
            ))}
          </div>
          {view === 'candles' ? (
            <Suspense fallback={<Loading rows={8} height={28} />}>
              <Chart
                pair={pair}
                source={spotCandles(pair.id)}
                orders={here}
                fills={fills}
                move={setDragged}
              />
            </Suspense>
          ) : (
            <Depth book={book} version={version} pair={pair} />
          )}
        </section>
      ) : null}
      {shown('book') ? (
        <>
          <BookPanel
            book={book}
            version={version}
            pair={pair}
            last={last}
            orders={orders}
            pick={pick}
            rows={narrow ? 12 : 20}
          />
          <TradesPanel pair={pair} />
        </>
      ) : null}
      {shown('form') ? <OrderForm pair={pair} book={book} last={last} picked={picked} /> : null}
      {shown('orders') ? <Orders pair={pair} /> : null}
      <Modal
        opened={dragged !== undefined}
        onClose={() => setDragged(undefined)}
        title="Amend the order"
        size="sm"
      >
        {dragged === undefined || moved === undefined ? null : (
          <Amend order={moved} price={dragged.price} close={() => setDragged(undefined)} />
        )}
      </Modal>
    </div>
  )
}

function Bar({
  pair,
  ticker,
}: {
  readonly pair: Pair
  readonly ticker: Ticker | undefined
}): React.JSX.Element {
  const index = useIndexPrice(pair.id)
  return (
    <header className="market-bar">
      <MarketMenu pair={pair} />
      <span className="market-last num" aria-label="Last price">
        {ticker === undefined ? '–' : display(ticker.last, { places: pair.precision, fixed: true })}
      </span>
      <Change value={ticker?.change_percentage} />
      <span className="market-fact">
        <span className="dim">24 h high</span>{' '}
        <span className="num">{ticker === undefined ? '–' : display(ticker.high_24h)}</span>
      </span>
      <span className="market-fact">
        <span className="dim">low</span>{' '}
        <span className="num">{ticker === undefined ? '–' : display(ticker.low_24h)}</span>
      </span>
      <span className="market-fact">
        <span className="dim">volume</span>{' '}
        <span className="num">
          {ticker === undefined ? '–' : display(ticker.quote_volume, { places: 0 })} {pair.quote}
        </span>
      </span>
      <span
        className="market-fact"
        title="By the index prices of its currencies: what margins are reckoned with"
      >
        <span className="dim">index</span>{' '}
        <span className="num">{index === undefined ? '–' : display(index, { places: pair.precision })}</span>
      </span>
      {pair.trade_status === 'tradable' ? null : <span className="wait">{pair.trade_status}</span>}
    </header>
  )
}
function MarketMenu({ pair }: { readonly pair: Pair }): React.JSX.Element {
  const navigate = useNavigate()
  const tickers = useTickers()
  const [words, setWords] = useState('')
  const rows = (tickers.data ?? []).filter(({ currency_pair }) =>
    currency_pair.toLowerCase().includes(words.toLowerCase().replace(/[\s/]/g, '_')),
  )
  return (
    <Menu position="bottom-start" width={320} trapFocus>
      <Menu.Target>
        <UnstyledButton className="market-name" aria-label={`Market ${pair.id}, choose another`}>
          <h1>{pair.id}</h1> <span aria-hidden>▾</span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <TextInput
          size="xs"
          placeholder="Filter"
          aria-label="Filter markets"
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
          m={4}
        />
        <div style={{ maxHeight: '60dvh', overflowY: 'auto' }}>
          {rows.map(({ currency_pair, last, change_percentage }) => (
            <Menu.Item
              key={currency_pair}
              onClick={() => void navigate({ to: '/trade/$pair', params: { pair: currency_pair } })}
              rightSection={<Change value={change_percentage} />}
            >
              <b>{currency_pair}</b> <span className="num dim">{display(last)}</span>
            </Menu.Item>
          ))}
        </div>
      </Menu.Dropdown>
    </Menu>
  )
}
