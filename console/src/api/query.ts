import { QueryClient, queryOptions, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { access, call, type Reply } from './client.ts'
import { ApiError } from './errors.ts'
import type { Account, Session } from './own.ts'
import { useSyncExternalStore } from 'react'

/** What was refused for a reason is not asked again; what did not arrive is. */
export const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (count, error) =>
        count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
      refetchOnWindowFocus: true,
    },
    mutations: { retry: false },
  },
})

export const platformQuery = queryOptions({
  queryKey: ['platform'],
  queryFn: () => call('GET /console/v1/platform'),
  staleTime: 30_000,
  refetchInterval: 60_000,
})
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async () => {
    const before = told
    const session = await call('GET /console/v1/session')
    // Somebody came in or left meanwhile, and this answer was on its way already: it is the older one.
    return told === before ? keep(session) : (client.getQueryData<Session>(['session']) ?? keep(session))
  },
  staleTime: 60_000,
})
/** How often the session was told. */
let told = 0
/** Every reply that tells the session goes through here: the tokens of later calls come from it. */
export function keep(session: Session): Session {
  told++
  access.csrf = { account: session.account?.csrf ?? '', operator: session.operator?.csrf ?? '' }
  const chosen = chosenAccount()
  if (chosen !== undefined && session.account?.accounts.every(({ user_id }) => user_id !== chosen) !== false)
    chooseAccount(undefined)
  client.setQueryData(['session'], session)
  return session
}
access.ended = () => void client.invalidateQueries({ queryKey: ['session'] })

/** The account that is looked at, in this tab: the main account or one of its subs. */
const KEY = 'kontor.account'
const listeners = new Set<() => void>()
const stored = Number(sessionStorage.getItem(KEY) ?? NaN)
access.account = Number.isInteger(stored) ? stored : undefined
export const chosenAccount = (): number | undefined => access.account
export function chooseAccount(userId: number | undefined): void {
  if (access.account === userId) return
  access.account = userId
  if (userId === undefined) sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, String(userId))
  // Everything else that was read is another account's.
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] === 'own' && queryKey[1] !== userId })
  for (const listener of listeners) listener()
}
const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
export const useChosen = (): number | undefined => useSyncExternalStore(subscribe, chosenAccount)

export const useSession = (): Session | undefined => useQuery(sessionQuery).data
export const usePlatform = (): Reply<'GET /console/v1/platform'> | undefined => useQuery(platformQuery).data
/** Who is looked at; undefined while nobody is signed in as an account. */
export function useAccount(): Account | undefined {
  const session = useSession()
  const chosen = useChosen()
  const accounts = session?.account?.accounts ?? []
  return accounts.find(({ user_id }) => user_id === chosen) ?? accounts.find(({ kind }) => kind === 'main')
}
/** Keys of what belongs to the account that is looked at. */
export const own = (...words: readonly unknown[]): readonly unknown[] => ['own', chosenAccount(), ...words]

export interface OwnOptions {
  readonly every?: number
  readonly enabled?: boolean
  readonly stale?: number
}
/** Something of the account's, by a name of its own. */
export function useOwn<T>(
  words: readonly unknown[],
  fetch: () => Promise<T>,
  { every, enabled = true, stale }: OwnOptions = {},
): UseQueryResult<T> {
  useChosen()
  return useQuery({
    queryKey: own(...words),
    queryFn: fetch,
    enabled,
    ...(every !== undefined && { refetchInterval: every }),
    ...(stale !== undefined && { staleTime: stale }),
  })
}
/** Something that is the same for everybody. */
export function useShared<T>(
  words: readonly unknown[],
  fetch: () => Promise<T>,
  { every, enabled = true, stale = 30_000 }: OwnOptions = {},
): UseQueryResult<T> {
  return useQuery({
    queryKey: ['shared', ...words],
    queryFn: fetch,
    enabled,
    staleTime: stale,
    ...(every !== undefined && { refetchInterval: every }),
  })
}
export const refreshOwn = (...words: readonly unknown[]): Promise<void> =>
  client.invalidateQueries({ queryKey: own(...words) })

const late = new Set<string>()
/** After a push: an answer that is under way may be from before it, and would undo it. It is asked for again a second later, once, however many pushes come. */
export function notBefore(queryKey: readonly unknown[]): void {
  const word = JSON.stringify(queryKey)
  if (late.has(word) || client.isFetching({ queryKey }) === 0) return
  late.add(word)
  setTimeout(() => {
    late.delete(word)
    void client.invalidateQueries({ queryKey })
  }, 1_000)
}
