/** What people need to see before they agree to a changed configuration: each place that differs, before and after. */
const SHOWN_MAX = 200
const TEXT_MAX = 120

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object'
const shown = (value: unknown): string =>
  value === undefined ? 'nothing' : JSON.stringify(value).slice(0, TEXT_MAX)

/** Of a contract, or what dated ones are made of; no other item has a group. */
const contractName = ({ group, settle, name, underlying }: Readonly<Record<string, unknown>>): unknown =>
  typeof group === 'string' ? [group, settle, name || underlying].join('/') : undefined

/** Items of a list are told apart by their names where they have one, so that an added one does not shift the rest. */
function membersOf(value: Readonly<Record<string, unknown>>): Map<string, unknown> {
  const named = (item: unknown, i: number): string => {
    if (!isObject(item)) return String(i)
    const name =
      item['currency'] ?? item['chain'] ?? item['id'] ?? item['currency_pair'] ?? contractName(item)
    return typeof name === 'string' ? name : String(i)
  }
  return new Map(
    Array.isArray(value)
      ? value.map((item: unknown, i): [string, unknown] => [named(item, i), item])
      : Object.entries(value),
  )
}

/** `was` or `is` is undefined where there is nothing. */
export interface Difference {
  readonly where: string
  readonly was: unknown
  readonly is: unknown
}
export const differenceText = ({ where, was, is }: Difference): string =>
  `${where}: ${shown(was)} → ${shown(is)}`

export function differences(before: unknown, after: unknown): string[] {
  const found = differing(before, after)
  const texts = found.slice(0, SHOWN_MAX).map(differenceText)
  return found.length > SHOWN_MAX ? [...texts, `… and ${found.length - SHOWN_MAX} more`] : texts
}

/** All of them, member by member. */
export function differing(before: unknown, after: unknown): Difference[] {
  const found: Difference[] = []
  compare(before, after, '')
  return found

  function compare(was: unknown, is: unknown, where: string): void {
    if (JSON.stringify(was) === JSON.stringify(is)) return
    if (!isObject(was) || !isObject(is)) {
      found.push({ where, was, is })
      return
    }
    const old = membersOf(was)
    const fresh = membersOf(is)
    for (const name of new Set([...old.keys(), ...fresh.keys()]))
      compare(old.get(name), fresh.get(name), where === '' ? name : `${where}.${name}`)
  }
}
