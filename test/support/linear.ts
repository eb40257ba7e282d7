/**
 * Looks for an order of operations that a single, sequential service could have gone through, with every operation
 * between its call and its return: linearizability. The search is that of Wing and Gong with Lowe's memory of
 * configurations, as Porcupine does it: operations are tried in the order of their calls; what has been put in order is
 * lifted out of the list; a return that is met while its operation is still in the list means one step back; a set of
 * ordered operations with the same state is never tried twice.
 */
export interface Operation<I, O> {
  readonly client: number | string
  readonly input: I
  /** Monotonic time of the call, and of the return. Infinity: it may have happened at any time after the call, or never. */
  readonly call: number
  readonly ret: number
  /** Undefined: nobody knows what was (or would have been) answered. */
  readonly output: O | undefined
}

export interface Model<S, I, O> {
  init(): S
  /**
   * The state afterwards, or undefined where a service in this state would not have answered so. With an unknown answer
   * undefined means that it would have changed nothing here.
   */
  step(state: S, input: I, output: O | undefined): S | undefined
  /** Two states with the same text behave alike. */
  key(state: S): string
}

export type Verdict<I, O> =
  | { readonly kind: 'linearizable'; readonly steps: number }
  | {
      readonly kind: 'violation'
      readonly steps: number
      /** How many could be put in order at most, and what could not follow then. */
      readonly ordered: number
      readonly stuck: readonly Operation<I, O>[]
    }
  /** The bound was met: it may be so or not. No test may take this for a yes. */
  | { readonly kind: 'unknown'; readonly steps: number; readonly why: string }

export interface Bounds {
  readonly steps?: number
  readonly ms?: number
}

interface Entry<I, O> {
  readonly index: number
  readonly operation: Operation<I, O>
  readonly time: number
  /** Of a call: where it returns, if it does. */
  readonly match: Entry<I, O> | undefined
  readonly isCall: boolean
  prev: Entry<I, O> | undefined
  next: Entry<I, O> | undefined
}

export function checkLinearizable<S, I, O>(
  model: Model<S, I, O>,
  history: readonly Operation<I, O>[],
  { steps: maxSteps = 20_000_000, ms = 60_000 }: Bounds = {},
): Verdict<I, O> {
  const head = linked(history)
  const ordered = new Bits(history.length)
  const seen = new Seen()
  const path: { readonly entry: Entry<I, O>; readonly state: S }[] = []
  const deadline = performance.now() + ms
  let returns = history.filter(({ ret }) => ret !== Infinity).length
  let state = model.init()
  let steps = 0
  let best = -1
  let stuck: Operation<I, O>[] = []
  let entry = head.next
  while (returns > 0) {
    if (++steps > maxSteps) return { kind: 'unknown', steps, why: `more than ${maxSteps} steps` }
    if (steps % 1024 === 0 && performance.now() > deadline)
      return { kind: 'unknown', steps, why: `more than ${ms} ms` }
    // Something has not returned yet, so its return ends the list at the latest.
    const at = entry!
    if (at.isCall) {
      const { input, output } = at.operation
      const after = model.step(state, input, output)
      if (after !== undefined && seen.add(ordered, at.index, model.key(after))) {
        path.push({ entry: at, state })
        state = after
        ordered.set(at.index)
        lift(at)
        if (at.match !== undefined) returns--
        entry = head.next
      } else entry = at.next
      continue
    }
    if (path.length > best) {
      best = path.length
      stuck = openBefore(head, at)
    }
    const last = path.pop()
    if (last === undefined) return { kind: 'violation', steps, ordered: best, stuck }
    state = last.state
    ordered.clear(last.entry.index)
    unlift(last.entry)
    if (last.entry.match !== undefined) returns++
    entry = last.entry.next
  }
  return { kind: 'linearizable', steps }
}

/** Calls and returns by time; at the same time calls come first, because nobody can tell. */
function linked<I, O>(history: readonly Operation<I, O>[]): Entry<I, O> {
  const entries: Entry<I, O>[] = []
  const inCallOrder = [...history].sort((a, b) => a.call - b.call)
  for (const [index, operation] of inCallOrder.entries()) {
    const base = { index, operation, prev: undefined, next: undefined }
    const match: Entry<I, O> | undefined =
      operation.ret === Infinity
        ? undefined
        : { ...base, time: operation.ret, match: undefined, isCall: false }
    entries.push({ ...base, time: operation.call, match, isCall: true })
    if (match !== undefined) entries.push(match)
  }
  entries.sort((a, b) => a.time - b.time || Number(b.isCall) - Number(a.isCall) || a.index - b.index)
  const head = { index: -1, time: -Infinity, isCall: false, match: undefined } as unknown as Entry<I, O>
  let last = head
  for (const entry of entries) {
    last.next = entry
    entry.prev = last
    last = entry
  }
  return head
}
function lift<I, O>(call: Entry<I, O>): void {
  unlink(call)
  if (call.match !== undefined) unlink(call.match)
}
function unlift<I, O>(call: Entry<I, O>): void {
  if (call.match !== undefined) relink(call.match)
  relink(call)
}
function unlink<I, O>(entry: Entry<I, O>): void {
  entry.prev!.next = entry.next
  if (entry.next !== undefined) entry.next.prev = entry.prev
}
function relink<I, O>(entry: Entry<I, O>): void {
  entry.prev!.next = entry
  if (entry.next !== undefined) entry.next.prev = entry
}
/** Operations that were open when the search could go no further: the one that returned, and those beside it. */
function openBefore<I, O>(head: Entry<I, O>, end: Entry<I, O>): Operation<I, O>[] {
  const open: Operation<I, O>[] = []
  for (let entry = head.next; entry !== undefined && entry !== end; entry = entry.next)
    open.push(entry.operation)
  return open
}

class Bits {
  readonly words: Uint32Array
  hash = 0
  constructor(size: number) {
    this.words = new Uint32Array(Math.ceil(size / 32))
  }
  set(index: number): void {
    this.words[index >>> 5]! |= 1 << (index & 31)
    this.hash ^= mixed(index)
  }
  clear(index: number): void {
    this.words[index >>> 5]! &= ~(1 << (index & 31))
    this.hash ^= mixed(index)
  }
}
/** What has been tried: sets of ordered operations, compared bit by bit, with the state they led to. */
class Seen {
  private readonly known = new Map<string, Uint32Array[]>()
  /** False where the set with one more, in this state, is known. */
  add(ordered: Bits, index: number, state: string): boolean {
    const key = `${ordered.hash ^ mixed(index)} ${state}`
    const words = ordered.words.slice()
    words[index >>> 5]! |= 1 << (index & 31)
    const alike = this.known.get(key)
    if (alike === undefined) this.known.set(key, [words])
    else {
      if (alike.some((other) => same(other, words))) return false
      alike.push(words)
    }
    return true
  }
}
const same = (a: Uint32Array, b: Uint32Array): boolean => {
  for (let word = 0; word < a.length; word++) if (a[word] !== b[word]) return false
  return true
}
function mixed(index: number): number {
  let x = Math.imul(index + 1, 0x9e3779b1)
  x = Math.imul(x ^ (x >>> 15), 0x85ebca6b)
  return (x ^ (x >>> 13)) | 0
}
