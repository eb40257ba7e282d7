/** What a session is wanted for: any server, or one that takes writes. */
export type Wanted = 'any' | 'primary'
export interface Targets {
  /** One URL for each server, in the order in which they are asked. */
  readonly urls: readonly string[]
  readonly wanted: Wanted
}
const ATTRIBUTES: Readonly<Record<string, Wanted>> = {
  'read-write': 'primary',
  primary: 'primary',
  any: 'any',
}

const PARTS = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#]*)([^?#]*)(\?[^#]*)?/
/** Of several servers, the one that takes writes, unless the URL says that any will do. */
export function targetsOf(url: string): Targets {
  const [, scheme, user, authority, path, query = ''] = PARTS.exec(url) ?? []
  if (scheme === undefined) return { urls: [url], wanted: 'any' }
  const options = new URLSearchParams(query)
  const wish = options.get('target_session_attrs')
  const named = options.get('host')
  const servers = named === null ? authority!.split(',') : named.split(',')
  // One server is asked by the URL as it stands, so that nothing that the driver reads in it is lost.
  if (servers.length === 1 && wish === null) return { urls: [url], wanted: 'any' }
  options.delete('target_session_attrs')
  const ports = options.get('port')?.split(',')
  const urls = servers.map((server, i) => {
    const own = new URLSearchParams(options)
    if (ports !== undefined) own.set('port', ports.length === 1 ? ports[0]! : (ports[i] ?? ''))
    if (named !== null) own.set('host', server)
    const rest = own.toString().replaceAll('+', '%20')
    return `${scheme}${user}${named === null ? server : authority}${path}${rest === '' ? '' : `?${rest}`}`
  })
  return { urls, wanted: ATTRIBUTES[wish ?? (urls.length > 1 ? 'primary' : 'any')] ?? 'any' }
}
/** The server of a URL, without user and password. */
export function serverOf(url: string): string {
  const [, , , authority = '', , query = ''] = PARTS.exec(url) ?? []
  return new URLSearchParams(query).get('host') ?? authority
}

/** An answer is waited for so long before the next server is asked as well. */
const STAGGER_MS = 400
/** The server that somebody connects to first: the one where his last connection was, or another when that one died. */
export class Preference {
  place = 0
  next(): void {
    this.place++
  }
}

/**
 * Asks the servers one after the other, the next one as soon as one fails or says nothing for a moment. The first that
 * will do is taken; the others are let go. Fails with what each of them said.
 */
export function firstOf<C>(
  { urls }: Targets,
  attempt: (url: string) => Promise<C>,
  release: (other: C) => void,
  preference = new Preference(),
): Promise<C> {
  const order = urls.map((_, i) => (preference.place + i) % urls.length)
  return new Promise((resolve, reject) => {
    const faults: { readonly server: string; readonly error: unknown }[] = []
    let done = false
    let begun = 0
    let timer: NodeJS.Timeout | undefined
    const begin = (): void => {
      clearTimeout(timer)
      const place = order[begun++]
      if (done || place === undefined) return
      if (begun < order.length) timer = setTimeout(begin, STAGGER_MS)
      attempt(urls[place]!).then(
        (connection) => {
          if (done) return release(connection)
          done = true
          clearTimeout(timer)
          preference.place = place
          resolve(connection)
        },
        (error: unknown) => {
          faults.push({ server: serverOf(urls[place]!), error })
          if (faults.length < order.length) return begin()
          done = true
          reject(new NoServer(faults))
        },
      )
    }
    begin()
  })
}
/** None of the servers will do. */
export class NoServer extends Error {
  readonly faults: readonly { readonly server: string; readonly error: unknown }[]
  constructor(faults: readonly { readonly server: string; readonly error: unknown }[]) {
    super('no server will do')
    this.faults = faults
  }
}
