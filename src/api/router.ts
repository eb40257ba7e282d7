/** Finds the route of a method and path; literal segments win over parameters. */
export interface Match<R> {
  readonly route: R
  readonly params: Readonly<Record<string, string>>
}
/** Parameters that a path stands for without naming them. */
type Given = Readonly<Record<string, string>>
interface Node<R> {
  readonly literals: Map<string, Node<R>>
  parameter: Node<R> | undefined
  readonly routes: Map<string, { route: R; names: readonly string[]; given: Given }>
}
/** Paths of a method, and how long one may be. */
const REMEMBERED = 500
const REMEMBERED_LENGTH = 100
const node = <R>(): Node<R> => ({ literals: new Map(), parameter: undefined, routes: new Map() })

export class Router<R> {
  private readonly root = node<R>()
  /** Paths without parameters, which most are: one look-up. */
  private readonly literal = new Map<string, Map<string, Match<R>>>()
  /** By method, paths with parameters that were asked for lately: bots call the same few again and again. */
  private readonly lately = new Map<string, Map<string, Match<R>>>()

  add(method: string, path: string, route: R, given: Given = {}): void {
    const names: string[] = []
    let at = this.root
    for (const segment of path.split('/').slice(1)) {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1]
      if (name !== undefined) {
        names.push(name)
        at = at.parameter ??= node()
      } else {
        let next = at.literals.get(segment)
        if (next === undefined) at.literals.set(segment, (next = node()))
        at = next
      }
    }
    if (at.routes.has(method)) throw new TypeError(`two routes for ${method} ${path}`)
    at.routes.set(method, { route, names, given })
    if (names.length === 0) {
      let methods = this.literal.get(path)
      if (methods === undefined) this.literal.set(path, (methods = new Map<string, Match<R>>()))
      methods.set(method, { route, params: given })
    }
  }
  find(method: string, path: string): Match<R> | { readonly allow: readonly string[] } {
    const direct = this.literal.get(path)?.get(method)
    if (direct !== undefined) return direct
    const known = this.lately.get(method)?.get(path)
    if (known !== undefined) return known
    const allow = new Set<string>()
    const segments = path.split('/').slice(1)
    const found = this.walk(this.root, segments, 0, [], method, allow)
    if (found === undefined) return { allow: [...allow].sort() }
    if (path.length <= REMEMBERED_LENGTH) this.remember(method, path, found)
    return found
  }
  /** A path of some method that is like this one: a segment that is not known is the one that `near` chooses. */
  like(
    path: string,
    near: (segment: string, known: readonly string[]) => string | undefined,
  ): string | undefined {
    let at = this.root
    let found = ''
    for (const segment of path.split('/').slice(1)) {
      const name = at.literals.has(segment) ? segment : near(segment, [...at.literals.keys()])
      const next = name === undefined ? at.parameter : at.literals.get(name)
      if (next === undefined) return undefined
      found += `/${name ?? segment}`
      at = next
    }
    return at.routes.size === 0 ? undefined : found
  }
  /** Whoever names ever new paths makes the others be found anew, and nothing grow. */
  private remember(method: string, path: string, found: Match<R>): void {
    let paths = this.lately.get(method)
    if (paths === undefined) this.lately.set(method, (paths = new Map<string, Match<R>>()))
    if (paths.size >= REMEMBERED) paths.clear()
    paths.set(path, found)
  }
  private walk(
    at: Node<R>,
    segments: readonly string[],
    depth: number,
    values: readonly string[],
    method: string,
    allow: Set<string>,
  ): Match<R> | undefined {
    if (depth === segments.length) {
      const hit = at.routes.get(method)
      for (const other of at.routes.keys()) allow.add(other)
      if (hit === undefined) return undefined
      const params: Record<string, string> = {}
      for (const name in hit.given) params[name] = hit.given[name]!
      for (let i = 0; i < hit.names.length; i++) params[hit.names[i]!] = values[i]!
      return { route: hit.route, params: Object.freeze(params) }
    }
    const segment = segments[depth]!
    const literal = at.literals.get(segment)
    const found = literal && this.walk(literal, segments, depth + 1, values, method, allow)
    if (found !== undefined || at.parameter === undefined || segment === '') return found
    return this.walk(at.parameter, segments, depth + 1, [...values, segment], method, allow)
  }
}
