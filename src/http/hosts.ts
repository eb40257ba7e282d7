import { isIP } from 'node:net'

/** Header values that were found good; more are never kept, because a caller chooses them. */
const KNOWN_MAX = 1_000

/**
 * Which host names are answered. A page elsewhere can point a name of its own at this address and then read the
 * answers (DNS rebinding); it can't do so with an address, with localhost, or with a name that is ours.
 */
export class Hosts {
  private readonly names: ReadonlySet<string>
  private readonly endings: readonly string[]
  private readonly known = new Set<string>()

  /** `*.example.com` stands for all names below example.com. */
  constructor(names: readonly string[]) {
    this.names = new Set(['localhost', ...names.map((name) => name.toLowerCase())])
    this.endings = [
      '.localhost',
      ...names.filter((name) => name.startsWith('*.')).map((name) => name.slice(1)),
    ]
  }
  allows(header: string): boolean {
    if (this.known.has(header)) return true
    const name = nameIn(header)
    const good =
      name !== undefined &&
      (isIP(name) !== 0 || this.names.has(name) || this.endings.some((ending) => name.endsWith(ending)))
    if (good && this.known.size < KNOWN_MAX) this.known.add(header)
    return good
  }
}

/** Without port, final dot and brackets; undefined when it is no host at all. */
function nameIn(header: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(header)
  return (match?.[1] ?? match?.[2])?.toLowerCase().replace(/\.$/, '')
}
