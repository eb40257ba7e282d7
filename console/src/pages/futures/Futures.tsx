import { Menu, TextInput, UnstyledButton } from '@mantine/core'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Suspense, lazy, useCallback, useEffect, useMemo, useState } from 'react'
import { usePlatform } from '../../api/query.ts'
import { dec, display, percent } from '../../lib/decimal.ts'
import { useNarrow } from '../../lib/narrow.ts'
import { setPrefs } from '../../lib/prefs.ts'
import { minuteText, span } from '../../lib/time.ts'
import { LineContext, useBook, useLine, useNow } from '../../live/hooks.ts'
import { Change } from '../../parts/Amount.tsx'
import { useTitle } from '../../parts/Page.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import '../trade/trade.css'
import { BookPanel } from '../trade/BookPanel.tsx'
import { Depth } from '../trade/Depth.tsx'
import type { Dragged } from '../trade/market.ts'
import type { Picked } from '../trade/OrderForm.tsx'
import { TradesList } from '../trade/TradesPanel.tsx'
import { ContractForm } from './ContractForm.tsx'
import {
  SCOPES,
  candlesOf,
  isHeld,
  lookOf,
  scopeWords,
  useContractStreams,
  useContracts,
  useFills,
  useOrders,
  usePositions,
  useTicker,
  useTickers,
  useTradesOf,
  type Contract,
  type Ticker,
} from './contracts.ts'
import './futures.css'
import { AmendForm, Records } from './Records.tsx'

const Chart = lazy(() => import('../trade/Chart.tsx'))

export function Futures(): React.JSX.Element {
  const { contract: name } = useParams({ from: '/frame/futures/$contract' })
  const contracts = useContracts()
  const contract = contracts.data?.find((one) => one.name === name.toUpperCase())
  const line = useLine(
    contract === undefined ? undefined : `/console/ws/${contract.group}/${contract.settle}`,
  )
  useEffect(() => {
    if (contract !== undefined) setPrefs({ contract: contract.name })
  }, [contract])
  if (contracts.data === undefined)
    return contracts.error === null ? (
      <Loading rows={10} height={32} />
    ) : (
      <Failed error={contracts.error} retry={() => void contracts.refetch()} />
    )
  if (contract === undefined) {
    const first = contracts.data[0]?.name
    return (
      <Empty action={first === undefined ? null : <a href={`/futures/${first}`}>Go to {first}</a>}>
        <h1 className="sign-title">There is no contract {name.slice(0, 40)}.</h1>
      </Empty>
    )
  }
  return (
    <LineContext value={line}>
      <Market key={`${contract.group} ${contract.settle} ${contract.name}`} contract={contract} />
    </LineContext>
  )
}

const NONE: readonly never[] = []
const VIEWS = [
  ['last', 'Last'],
  ['mark', 'Mark'],
  ['depth', 'Depth'],
] as const
type Tab = 'chart' | 'book' | 'form' | 'orders'
function Market({ contract }: { readonly contract: Contract }): React.JSX.Element {
  const { group, settle, name } = contract
  const scope = useMemo(() => ({ group, settle }), [group, settle])
  useContractStreams(scope)
  const ticker = useTicker(contract)
  const { book, version } = useBook(
    group === 'futures' ? 'futures.obu' : 'futures.order_book_update',
    group === 'futures' ? `ob.${name}.400` : `${name} 100ms 100`,
  )
  const trades = useTradesOf(contract)
  const all = useOrders(scope, 'open').data ?? NONE
  const orders = useMemo(() => all.filter((one) => one.contract === name), [all, name])
  const rows = usePositions(scope).data
  const positions = useMemo(() => rows?.filter((one) => one.contract === name), [rows, name])
  const held = rows?.filter(isHeld).length ?? 0
  const fills = useFills(scope, name).data ?? NONE
  const [view, setView] = useState<(typeof VIEWS)[number][0]>('last')
  const [picked, setPicked] = useState<Picked | undefined>(undefined)
  const [tab, setTab] = useState<Tab>('chart')
  const [dragged, setDragged] = useState<Dragged | undefined>(undefined)
  const moved = orders.find(({ id }) => String(id) === dragged?.id)
  const narrow = useNarrow()
  const pick = useCallback((price: string, amount: string, side: 'buy' | 'sell') => {
    setPicked((last) => ({ price, amount, side, serial: (last?.serial ?? 0) + 1 }))
    setTab((now) => (now === 'book' ? 'form' : now))
  }, [])
  const look = useMemo(() => lookOf(contract), [contract])
  const last = ticker === undefined || dec(ticker.last) === 0n ? undefined : ticker.last
  const mark = ticker === undefined || dec(ticker.mark_price) === 0n ? undefined : ticker.mark_price
  useTitle(`${last === undefined ? '' : `${display(last)} `}${name}`)
  const own = useMemo(
    () =>
      orders.map(({ id, price, size, left }) => ({
        id: String(id),
        currency_pair: name,
        price,
        side: Number(size) < 0 ? 'sell' : 'buy',
        left: String(left).replace('-', ''),
      })),
    [orders, name],
  )
  const marks = useMemo(
    () =>
      fills.map(({ create_time, size }) => ({
        create_time,
        side: Number(size) < 0 ? 'sell' : 'buy',
        amount: String(size).replace('-', ''),
      })),
    [fills],
  )
  // Its own text, so that the lines are drawn again only when they move.
  const standing = (positions ?? [])
    .filter(isHeld)
    .flatMap(({ entry_price, liq_price }) => [
      `entry ${entry_price} --accent`,
      ...(dec(liq_price) === 0n ? [] : [`liquidation ${liq_price} --wait`]),
    ])
    .join(',')
  const prices = useMemo(
    () =>
      standing === ''
        ? []
        : standing.split(',').map((one) => {
            const [word = '', price = '', colour = ''] = one.split(' ')
            return { name: word, price, colour }
          }),
    [standing],
  )
  const shown = (which: Tab): boolean => !narrow || tab === which
  return (
    <div className="trade futures">
      <Bar contract={contract} ticker={ticker} />
      {narrow ? (
        <div className="trade-tabs" role="tablist" aria-label="Parts">
          {(
            [
              ['chart', 'Chart'],
              ['book', 'Book'],
              ['form', 'Order'],
              ['orders', `Positions${held === 0 ? '' : ` ${held}`}`],
            ] as const
          ).map(([one, word]) => (
            <button
              key={one}
              type="button"
              role="tab"
              aria-selected={tab === one}
              onClick={() => setTab(one)}
            >
              {word}
            </button>
          ))}
        </div>
      ) : null}
      {shown('chart') ? (
        <section className="card chart-card" aria-label="Chart">
          <div className="view-tools" role="group" aria-label="Kind of chart">
            {VIEWS.map(([one, word]) => (
              <button
                key={one}
                type="button"
                className="chip"
                aria-pressed={view === one}
                onClick={() => setView(one)}
              >
                {word}
              </button>
            ))}
          </div>
          {view === 'depth' ? (
            <Depth book={book} version={version} pair={look} />
          ) : (
            <Suspense fallback={<Loading rows={8} height={28} />}>
              <Chart
                key={view}
                pair={look}
                source={candlesOf(contract, view)}
                orders={own}
                fills={marks}
                prices={prices}
                move={setDragged}
              />
            </Suspense>
          )}
        </section>
      ) : null}
      {shown('book') ? (
        <>
          <BookPanel
            book={book}
            version={version}
            pair={look}
            last={last}
            orders={own}
            pick={pick}
            rows={narrow ? 12 : 20}
          />
          <TradesList pair={look} {...trades} />
        </>
      ) : null}
      {shown('form') ? (
        <ContractForm
          contract={contract}
          book={book}
          mark={mark}
          positions={positions}
          orders={orders}
          picked={picked}
        />
      ) : null}
      {shown('orders') ? <Records contract={contract} /> : null}
      {dragged === undefined || moved === undefined || group !== 'futures' ? null : (
        <AmendForm scope={scope} order={moved} price={dragged.price} close={() => setDragged(undefined)} />
      )}
    </div>
  )
}

function Fact({
  name,
  title,
  children,
}: {
  readonly name: string
  readonly title?: string
  readonly children: React.ReactNode
}): React.JSX.Element {
  return (
    <span className="market-fact" title={title}>
      <span className="dim">{name}</span> <span className="num">{children}</span>
    </span>
  )
}
function Bar({
  contract,
  ticker,
}: {
  readonly contract: Contract
  readonly ticker: Ticker | undefined
}): React.JSX.Element {
  const { precision, quote } = lookOf(contract)
  const shown = (value: string | undefined, places?: number): string =>
    value === undefined || dec(value) === 0n
      ? '–'
      : display(value, places === undefined ? {} : { places, fixed: true })
  const base = contract.name.split('_')[0] ?? ''
  return (
    <header className="market-bar">
      <ContractMenu contract={contract} />
      <span className="market-last num" aria-label="Last price">
        {shown(ticker?.last, precision)}
      </span>
      <Change value={ticker?.change_percentage} />
      <Fact name="mark" title="What margins and liquidations are reckoned with">
        {shown(ticker?.mark_price)}
      </Fact>
      <Fact name="index">{shown(ticker?.index_price)}</Fact>
      {contract.group === 'futures' ? (
        <Funding contract={contract} rate={ticker?.funding_rate} />
      ) : (
        <Expiry contract={contract} />
      )}
      <Fact name="open interest" title="Contracts that are held on each side">
        {ticker === undefined ? '–' : display(ticker.total_size)}
      </Fact>
      <Fact name="24 h high">{shown(ticker?.high_24h)}</Fact>
      <Fact name="low">{shown(ticker?.low_24h)}</Fact>
      <Fact name="volume">
        {ticker === undefined ? '–' : display(ticker.volume_24h_base, { places: 2 })} {base}
      </Fact>
      {contract.status === 'trading' ? null : (
        <span className="wait">{contract.status.replaceAll('_', ' ')}</span>
      )}
      <span className="sr">Prices in {quote}</span>
    </header>
  )
}
const clock = (seconds: number): string => {
  const left = Math.max(0, Math.floor(seconds))
  return [left / 3600, (left % 3600) / 60, left % 60]
    .map((part) => String(Math.floor(part)).padStart(2, '0'))
    .join(':')
}
function Funding({
  contract,
  rate,
}: {
  readonly contract: Contract
  readonly rate: string | undefined
}): React.JSX.Element {
  const now = useNow(usePlatform()?.clock_offset_ms ?? 0) / 1000
  const interval = contract.funding_interval ?? 0
  const next = contract.funding_next_apply ?? 0
  // The list is read now and then: meanwhile another time may have come.
  const at = next > now || interval === 0 ? next : next + Math.ceil((now - next) / interval) * interval
  return (
    <Fact
      name="funding"
      title={
        rate === undefined
          ? 'What one side pays to the other'
          : dec(rate) < 0n
            ? 'Who is short pays it to who is long'
            : 'Who is long pays it to who is short'
      }
    >
      {rate === undefined ? '–' : percent(rate, 4)} in {clock(at - now)}
    </Fact>
  )
}
function Expiry({ contract }: { readonly contract: Contract }): React.JSX.Element {
  const now = useNow(usePlatform()?.clock_offset_ms ?? 0)
  const at = (contract.expire_time ?? 0) * 1000
  return (
    <>
      <Fact name="expires" title={minuteText(at)}>
        {at <= now ? 'expired' : `in ${span(at - now)}`}
      </Fact>
      <Fact name="basis">{contract.basis_rate === undefined ? '–' : percent(contract.basis_rate, 3)}</Fact>
    </>
  )
}

function ContractMenu({ contract }: { readonly contract: Contract }): React.JSX.Element {
  const navigate = useNavigate()
  const contracts = useContracts().data ?? []
  const tickers = useTickers().data
  const [words, setWords] = useState('')
  const wanted = words.toLowerCase().replace(/[\s/]/g, '_')
  return (
    <Menu position="bottom-start" width={340} trapFocus>
      <Menu.Target>
        <UnstyledButton
          className="market-name"
          aria-label={`${contract.name} ${scopeWords(contract)}: choose another contract`}
        >
          <h1>{contract.name}</h1> <span className="dim small">{scopeWords(contract)}</span>{' '}
          <span aria-hidden>▾</span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <TextInput
          size="xs"
          placeholder="Filter"
          aria-label="Filter contracts"
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
          m={4}
        />
        <div style={{ maxHeight: '60dvh', overflowY: 'auto' }}>
          {SCOPES.map((scope, at) => {
            const rows = contracts.filter(
              ({ group, settle, name }) =>
                group === scope.group && settle === scope.settle && name.toLowerCase().includes(wanted),
            )
            return rows.length === 0 ? null : (
              <div key={scopeWords(scope)}>
                <Menu.Label>{scopeWords(scope)}</Menu.Label>
                {rows.map(({ name, mark_price }) => {
                  const ticker = tickers?.[at]?.find((one) => one.contract === name)
                  return (
                    <Menu.Item
                      key={name}
                      onClick={() => void navigate({ to: '/futures/$contract', params: { contract: name } })}
                      rightSection={<Change value={ticker?.change_percentage} />}
                    >
                      <b>{name}</b> <span className="num dim">{display(ticker?.last ?? mark_price)}</span>
                    </Menu.Item>
                  )
                })}
              </div>
            )
          })}
        </div>
      </Menu.Dropdown>
    </Menu>
  )
}
