import type { NewContractPriceOrder } from '../../../src/core/futures/price-orders.ts'
import type { ContractConfig } from '../../../src/core/tables/world/contracts.ts'
import { createChase, lookAtChases, stopChase, stopChases } from './chases.ts'
import { liquidate, unwind, wakeFund } from './liquidation.ts'
import { dec } from './numbers.ts'
import { amend, cancel, cancelAll, place } from './orders.ts'
import { beginPrices, followAll, minute, sweep } from './prices.ts'
import { lookAtEnds, planEnds, settle } from './settlement.ts'
import {
  changeMargin,
  credit,
  fundInsurance,
  setDual,
  setLeverage,
  setMarginMode,
  setRiskLimit,
  transfer,
} from './settings.ts'
import {
  amendPriceOrder,
  cancelPriceOrder,
  cancelPriceOrders,
  createPriceOrder,
  createTrail,
  expirePriceOrder,
  fire,
  stopTrail,
  stopTrails,
  touch,
  updateTrail,
  type NewPriceOrder,
} from './waiting.ts'
import {
  Refused,
  World,
  type Contract,
  type Due,
  type Mode,
  type Order,
  type Position,
  type PriceType,
  type Prices,
} from './world.ts'

/** Anything that is asked for, as the engine's commands are: all members are texts, numbers, flags or null. */
export type Input = Readonly<Record<string, never>>
export type Answer =
  | { readonly label: string }
  | { readonly order: Order }
  | { readonly ids: number[] }
  | { readonly rows: Position[] }
  | { readonly waits: number }
  | { readonly items: (Order | string)[] }
  | null
/** What a VIP tier pays, maker and taker: 2.9. */
const RATES: Readonly<Record<number, readonly [string, string]>> = {
  0: ['0.0002', '0.0005'],
  5: ['0.00017', '0.00045'],
  16: ['-0.00005', '0.00018'],
}

/**
 * Contracts as the specification tells them (futures.md, section 2, with what decision 0071 adds), by plain loops over
 * plain objects. Nothing is shared with the engine: no arithmetic, no book, no index, no sum that is kept.
 */
export class Reference {
  readonly world: World

  constructor(configs: readonly ContractConfig[]) {
    this.world = new World(configs)
  }
  /** Where the market stands: the first price of each contract, and what its first mark was made of. */
  begin(at: number, first: (id: string) => Pick<Prices, 'index' | 'mark' | 'rate' | 'nextFunding'>): void {
    for (const { id } of this.world.contracts.values()) this.world.prices.set(id, beginPrices(first(id), at))
    this.world.schedule(at - (at % 60e6) + 60e6, 'futures.minute', '')
    planEnds(this.world)
  }
  addUser(id: number, vip: number, stp: number): void {
    const [maker, taker] = RATES[vip]!
    this.world.users.set(id, { id, maker: dec(maker), taker: dec(taker), stp })
  }
  /** One command; `order` is in which order the engine began with units that fell together. */
  run(what: string, input: Input, at: number, order: readonly string[]): Answer {
    const w = this.world
    this.start(at, order)
    try {
      const answer = w.whole(() => this.answer(what, input))
      fire(w)
      wakeFund(w)
      return answer
    } catch (error) {
      if (error instanceof Refused) return { label: error.label }
      throw error
    }
  }
  /** '' or the label that it would be answered with now; nothing of it happens. */
  would(what: string, input: Input, at: number): string {
    const nothing = new Error('nothing of it happened')
    this.start(at, [])
    try {
      this.world.whole(() => {
        this.answer(what, input)
        throw nothing
      })
    } catch (error) {
      if (error === nothing) return ''
      if (error instanceof Refused) return error.label
      throw error
    }
    return ''
  }
  /** What is due first. */
  next(): Due | undefined {
    let first: Due | undefined
    for (const one of this.world.due) if (first === undefined || one.at < first.at) first = one
    return first
  }
  runDue(item: Due, at: number, order: readonly string[]): void {
    const w = this.world
    this.start(at, order)
    w.due = w.due.filter((one) => one !== item)
    if (item.kind === 'futures.minute') minute(w, item.at)
    else if (item.kind === 'futures.fund') sweep(w, w.contract(item.of))
    else if (item.kind === 'futures.unwind') unwind(w, w.contract(item.of))
    else if (item.kind === 'contract.look') lookAtEnds(w)
    else if (item.kind === 'contract.sweep') settle(w, w.contract(item.of))
    else if (item.kind === 'futures.price_order.expire') expirePriceOrder(w, Number(item.input['id']))
    else if (item.kind === 'futures.fire') touch(w, item.of)
    else if (item.kind === 'futures.chase.look') lookAtChases(w, w.contract(item.of))
    else liquidate(w, item)
    fire(w)
    wakeFund(w)
  }
  /** Something else that a command does here. */
  step(at: number, act: (w: World) => void): void {
    this.start(at, [])
    act(this.world)
    fire(this.world)
    wakeFund(this.world)
  }
  private start(at: number, order: readonly string[]): void {
    Object.assign(this.world, { at, order, records: {} })
    this.world.touched.clear()
    this.world.moved.clear()
  }
  /** One after the other, each as a whole or not at all: an order, or the label of what it is refused with. */
  private items(list: unknown, item: (one: Readonly<Record<string, string | null>>) => Order): Answer {
    const w = this.world
    const done = (list as Readonly<Record<string, string | null>>[]).map((one) => {
      try {
        const order = w.whole(() => item(one))
        fire(w)
        return order
      } catch (error) {
        if (error instanceof Refused) return error.label
        throw error
      }
    })
    return { items: done }
  }
  private answer(what: string, given: Input): Answer {
    const w = this.world
    const input = given as unknown as Record<string, string | number | boolean | null> & {
      order: Record<string, never>
    }
    const path = {
      user: input['user_id'] as number,
      account: `${String(input['group'])}/${String(input['settle'])}`,
    }
    const price = (text: string | number | boolean | null | undefined): bigint | null =>
      text === null ? null : dec(String(text))
    const name = String(input['contract'])
    switch (what) {
      case 'futures.place':
        return { order: place(w, { ...path, ...readOrder(input.order) }) }
      case 'futures.amend':
        return {
          order: amend(w, {
            ...path,
            id: input['id'] as number,
            size: input['size'] === null ? null : BigInt(String(input['size'])),
            price: price(input['price']),
            amendText: input['amend_text'] as string | null,
          }),
        }
      case 'futures.place_batch':
        return this.items(input['orders'], (order) => place(w, { ...path, ...readOrder(order) }))
      case 'futures.amend_batch':
        return this.items(input['orders'], (item) =>
          amend(w, {
            ...path,
            id: Number(item['id']),
            size: item['size'] === null ? null : BigInt(String(item['size'])),
            price: price(item['price']),
            amendText: item['amend_text'] ?? null,
          }),
        )
      case 'futures.cancel_batch':
        return this.items(input['ids'], (id) => cancel(w, path.user, path.account, Number(id)))
      case 'futures.cancel':
        return { order: cancel(w, path.user, path.account, input['id'] as number) }
      case 'futures.cancel_all': {
        const side = input['side'] === null ? null : input['side'] === 'buy'
        return { ids: cancelAll(w, path.user, path.account, input['contract'] as string | null, side) }
      }
      case 'futures.leverage':
        return {
          rows: setLeverage(
            w,
            path,
            name,
            dec(String(input['leverage'])),
            price(input['cross_leverage_limit']),
          ),
        }
      case 'futures.margin_mode':
        return { rows: setMarginMode(w, path, name, input['mode'] === 'cross') }
      case 'futures.risk_limit':
        return { rows: setRiskLimit(w, path, name, dec(String(input['risk_limit'])), input['dual'] === true) }
      case 'futures.margin':
        return {
          rows: changeMargin(w, path, name, dec(String(input['change'])), input['dual_side'] as Mode | null),
        }
      case 'futures.dual_mode':
        setDual(w, path, input['dual'] === true)
        return null
      case 'transfer.create': {
        const out = input['from'] !== 'spot'
        const account = `${String(out ? input['from'] : input['to'])}/${String(input['settle'])}`
        transfer(w, { ...path, account }, String(input['currency']), dec(String(input['amount'])), out)
        return null
      }
      case 'user.credit':
        credit(
          w,
          { ...path, account: `${String(input['account'])}/${String(input['settle'])}` },
          String(input['currency']),
          dec(String(input['amount'])),
        )
        return null
      case 'insurance.fund':
        fundInsurance(w, String(input['settle']), dec(String(input['amount'])))
        return null
      case 'prices.set': {
        const prices = input['prices'] as unknown as Record<string, string>
        followAll(w, (c: Contract) =>
          prices[c.base] === undefined ? w.priceOf(c.id).index : dec(prices[c.base]!),
        )
        return null
      }
      case 'contract.change':
        if (w.contract(name).settling || w.contract(name).status === 'delisted')
          throw new Refused('CONTRACT_IN_DELISTING')
        w.contract(name).status = (input['change'] as unknown as { status: string }).status
        return null
      case 'futures.price_order.create':
        return { waits: createPriceOrder(w, readPriceOrder(path, given)) }
      case 'futures.price_order.amend':
        return {
          waits: amendPriceOrder(w, path, input['id'] as number, {
            size: input['size'] as string | null,
            price: price(input['price']),
            trigger: price(input['trigger_price']),
            type: input['price_type'] as PriceType | null,
          }),
        }
      case 'futures.price_order.cancel':
        cancelPriceOrder(w, path, input['id'] as number)
        return null
      case 'futures.price_order.cancel_all':
        cancelPriceOrders(w, path, input['contract'] as string | null)
        return null
      case 'futures.trail.create':
        return {
          waits: createTrail(w, {
            ...path,
            contract: name,
            amount: String(input['amount']),
            activation: dec(String(input['activation_price'])),
            above: input['is_gte'] as boolean | null,
            type: input['price_type'] as PriceType,
            offset: String(input['price_offset']),
            reduceOnly: input['reduce_only'] === true,
            related: input['position_related'] === true,
            marginMode: input['pos_margin_mode'] as string | null,
            positionMode: input['position_mode'] as string | null,
          }),
        }
      case 'futures.trail.update':
        return {
          waits: updateTrail(w, path, input['id'] as number, {
            amount: input['amount'] as string | null,
            activation: price(input['activation_price']),
            above: input['is_gte'] as boolean | null,
            type: input['price_type'] as PriceType | null,
            offset: input['price_offset'] as string | null,
          }),
        }
      case 'futures.trail.stop':
        stopTrail(w, path, input['id'] as number)
        return null
      case 'futures.trail.stop_all':
        stopTrails(w, path, input['contract'] as string | null, input['related'] as string | null)
        return null
      case 'futures.chase.create':
        return {
          waits: createChase(w, {
            ...path,
            contract: name,
            amount: String(input['amount']),
            priceLimit: input['price_limit'] as string | null,
            offsetLimit: input['offset_limit'] as string | null,
            reduceOnly: input['reduce_only'] === true,
            text: String(input['text'] ?? ''),
            type: Number(input['price_type']),
            gapType: input['price_gap_type'] as number | null,
            gap: input['price_gap_value'] as string | null,
            dual: input['is_dual_mode'] as boolean | null,
            marginMode: input['pos_margin_mode'] as string | null,
            positionMode: input['position_mode'] as string | null,
          }),
        }
      case 'futures.chase.stop':
        stopChase(w, path, input['id'] as number | string)
        return null
      case 'futures.chase.stop_all':
        stopChases(w, path, input['contract'] as string | null, input['pos_margin_mode'] as string | null)
        return null
      case 'futures.mark':
        followAll(w)
        return null
      default:
        throw new TypeError(what)
    }
  }
}
function readPriceOrder(path: { user: number; account: string }, given: Input): NewPriceOrder {
  const { initial, trigger, order_type, pos_margin_mode } = given as unknown as NewContractPriceOrder
  return {
    ...path,
    contract: initial.contract,
    initial: {
      size: initial.size,
      price: dec(initial.price),
      tif: initial.tif,
      text: initial.text ?? '',
      close: initial.close,
      reduceOnly: initial.reduce_only,
      autoSize: initial.auto_size,
      marginMode: pos_margin_mode,
    },
    kind: order_type,
    type: trigger.price_type,
    above: trigger.rule === 1,
    trigger: dec(trigger.price),
    expiration: trigger.expiration,
  }
}
function readOrder(
  sent: Readonly<Record<string, string | boolean | null | undefined>>,
): Omit<Parameters<typeof place>[1], 'user' | 'account'> {
  // What its client left out is not there, or null.
  const order = (name: string): string | boolean | null => sent[name] ?? null
  const slip = order('market_order_slip_ratio') as string | null
  return {
    contract: String(order('contract')),
    size: String(order('size')),
    price: dec(String(order('price'))),
    tif: order('tif') as string | null,
    text: order('text') as string | null,
    close: order('close') === true,
    reduceOnly: order('reduce_only') === true,
    autoSize: order('auto_size') as 'close_long' | null,
    stpAct: order('stp_act') as string | null,
    iceberg: order('iceberg') === null ? null : BigInt(String(order('iceberg'))),
    slip,
    slipRate: slip === null ? null : dec(slip),
    marginMode: order('pos_margin_mode') as string | null,
    takeProfit: order('tpsl_tp_trigger_price') as string | null,
    stopLoss: order('tpsl_sl_trigger_price') as string | null,
  }
}
