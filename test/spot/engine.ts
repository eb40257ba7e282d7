import { commands } from '../../src/core/commands.ts'
import { SPOT_FILL, type Fill } from '../../src/core/tables/exchange/trades.ts'
import { State } from '../../src/core/state.ts'
import { Tx } from '../../src/machine/table.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { Refusal } from '../../src/labels.ts'

type Commands = typeof commands
export type Outcome<R> =
  { readonly reply: R; readonly fills: () => readonly Fill[] } | { readonly label: string }

const fillsOf = (tx: Tx): Fill[] => tx.appendedTo(SPOT_FILL)

/** The core's rules without a process, a clock or a disk around them. */
export class Engine {
  readonly state = new State()
  at = 1_700_000_000_000_000

  constructor() {
    this.must('world.configure', { config: BUILT_IN_WORLD })
  }
  run<T extends keyof Commands>(
    type: T,
    input: Parameters<Commands[T]>[1],
  ): Outcome<ReturnType<Commands[T]>> {
    return this.attempt(type, input).outcome
  }
  /** Runs a command and takes it back again: nothing may be left of it. */
  rehearse<T extends keyof Commands>(type: T, input: Parameters<Commands[T]>[1]): void {
    this.attempt(type, input).tx.rollback()
    this.at--
  }
  must<T extends keyof Commands>(type: T, input: Parameters<Commands[T]>[1]): ReturnType<Commands[T]> {
    const outcome = this.run(type, input)
    if ('label' in outcome) throw new TypeError(`${type}: ${outcome.label}`)
    return outcome.reply
  }
  user(funds: Readonly<Record<string, string>>, options: { vip?: number; parent_id?: number } = {}): number {
    const { user_id } = this.must('user.create', {
      login_name: `user_${this.at}`,
      email: null,
      password_hash: null,
      remark: '',
      vip: options.vip ?? 0,
      parent_id: options.parent_id ?? 0,
      type: 1,
      actor: null,
    })
    for (const [currency, amount] of Object.entries(funds))
      this.must('user.credit', {
        user_id,
        account: 'spot',
        currency,
        amount,
        currency_pair: null,
        settle: null,
        actor: null,
      })
    return user_id
  }
  /** For those who follow what commands write. */
  protected applied(_tx: Tx): void {}
  private attempt<T extends keyof Commands>(
    type: T,
    input: Parameters<Commands[T]>[1],
  ): { tx: Tx; outcome: Outcome<ReturnType<Commands[T]>> } {
    const tx = new Tx()
    this.at++
    try {
      const handler = commands[type] as (context: object, input: unknown) => ReturnType<Commands[T]>
      const reply = handler({ state: this.state, tx, at: this.at }, input)
      this.state.check()
      this.applied(tx)
      return { tx, outcome: { reply, fills: () => fillsOf(tx) } }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      tx.rollback()
      return { tx, outcome: { label: error.label } }
    }
  }
}
