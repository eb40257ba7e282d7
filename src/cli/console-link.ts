import { NotDone, drive } from './operator-api.ts'

interface MadeLink {
  readonly path: string
  readonly expires_at: number
  readonly token_first_half?: string
  readonly proposal?: { readonly id: number }
}

export const consoleLink = drive({
  usage: 'kontor console-link demo | operator | LOGIN_NAME | UID [--json]',
  detail: `Prints a link that signs whoever opens it in to the console, once: as the operator whose token is used (operator), or as
a main account, by its login name or id. It is good for an hour.
In live mode a link for an account is for whoever lost password or second factor: it takes a second operator, the two
of them hold one half of it each, and withdrawals of the account are closed for 24 hours.`,
  words: 1,
  run: async (api, { words }) => {
    const [whose] = words as [string]
    const path =
      whose === 'operator' ? '/console_links' : `/users/${(await api.user(whose)).user_id}/console_link`
    const made = await api.call<MadeLink>('POST', path, {})
    if (made.proposal !== undefined)
      return {
        json: made,
        text: `proposal ${made.proposal.id} waits for a second operator; the first half of the link's token is ${made.token_first_half ?? ''}`,
      }
    if (!made.path.startsWith('/enter#'))
      throw new NotDone(`what answers at ${api.url} is of another version`)
    // An account signs in where the trading API is.
    const url = `${whose === 'operator' ? api.url : api.tradingUrl}${made.path}`
    return { json: { url, expires_at: made.expires_at }, text: url }
  },
})
