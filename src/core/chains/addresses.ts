import { notFound, refuse } from '../../labels.ts'
import { audit } from '../audit.ts'
import type { Actor } from '../tables/audit.ts'
import { nextId } from '../counters.ts'
import type { Ctx } from '../state.ts'
import type { ChainConfig } from '../tables/world/chains.ts'
import { FORMATS, isTag, simulatedAddress } from './address-formats.ts'
import type { DepositAddress, SavedAddress } from '../tables/addresses.ts'

/** The canonical spelling of an address, or a refusal that shows a good one. */
export function readAddress(chain: ChainConfig, text: string): string {
  const format = FORMATS[chain.address_format]
  return (
    format.read(text) ??
    refuse(
      'INVALID_PARAM_VALUE',
      `address: "${text}" is not a ${chain.chain} address, or its checksum is wrong; one looks like ${format.example}`,
    )
  )
}
/** The memo of a payment; only tagged chains have one. */
export function readTag(chain: ChainConfig, text: string, name: string): string {
  if (!chain.tagged) return ''
  if (text !== '' && !isTag(text))
    refuse(
      'INVALID_PARAM_VALUE',
      `${name}: "${text}" is not a tag of ${chain.chain}: a number up to 4294967295`,
    )
  return text
}

/** The one address of a tagged simulated chain. */
export const sharedAddress = (chain: ChainConfig): string =>
  simulatedAddress(chain.address_format, chain.chain, 'all accounts')

export interface NewDepositAddress {
  readonly user_id: number
  readonly chain: string
  /** From the chain's own wallet; null lets a simulated chain derive it. */
  readonly address: string | null
}
/** Nothing happens when the user already has one. */
export function ensureDepositAddress(ctx: Ctx, input: NewDepositAddress): DepositAddress {
  const { state, tx, at } = ctx
  const { addresses } = state.wallet
  const known = addresses.of(input.chain, input.user_id)
  if (known !== undefined) return known
  const user = state.users.must(input.user_id)
  const chain = state.world.mustChain(input.chain)
  const address = chain.tagged
    ? (input.address ?? sharedAddress(chain))
    : (input.address ?? simulatedAddress(chain.address_format, chain.chain, String(user.user_id)))
  const row: DepositAddress = {
    chain: chain.chain,
    address,
    tag: chain.tagged ? String(user.user_id) : '',
    user_id: user.user_id,
    at,
  }
  const other = addresses.owner(row.chain, row.address, row.tag)
  if (other !== undefined)
    throw new TypeError(`${row.chain} address ${row.address} already belongs to user ${other.user_id}`)
  tx.put(addresses.deposit, row)
  return row
}

export interface NewSavedAddress {
  readonly user_id: number
  readonly currency: string
  readonly chain: string | null
  readonly address: string
  readonly name: string
  readonly tag: string
  readonly verified: boolean
  /** Seconds; null is now. */
  readonly verified_at: number | null
  readonly actor: Actor
}
/** Adds an address to the book, or changes name and verification of one that is there. */
export function saveAddress(ctx: Ctx, input: NewSavedAddress): SavedAddress {
  const { state, tx, at } = ctx
  const user = state.users.get(input.user_id) ?? refuse('USER_NOT_FOUND', `no user ${input.user_id}`)
  const currency = state.world.transported(input.currency)
  const { chain: chainName } = state.world.currencyChain(currency, input.chain)
  const chain = state.world.mustChain(chainName)
  const address = readAddress(chain, input.address)
  const tag = readTag(chain, input.tag, 'tag')
  const { addresses } = state.wallet
  const known = addresses.findSaved(user.user_id, currency.currency, chainName, address, tag)
  const named = input.verified_at === null ? at : Math.round(input.verified_at * 1e6)
  // With real money no address has been known for longer than it has been there.
  const verifiedNow = state.world.live ? Math.max(named, at) : named
  // Verifying again does not make an old address new.
  const since = known?.verified === true && input.verified_at === null ? known.verified_at : verifiedNow
  const row: SavedAddress = {
    id: known?.id ?? nextId(tx, state.counters, 'saved_address'),
    user_id: user.user_id,
    currency: currency.currency,
    chain: chainName,
    address,
    name: input.name,
    tag,
    verified: input.verified,
    verified_at: input.verified ? since : null,
    at: known?.at ?? at,
  }
  tx.put(addresses.saved, row)
  audit(ctx, input.actor, 'saved_address.save', { ...row })
  return row
}

/** Of one account, by itself. */
const SAVED_MAX = 200
export type OwnAddress = Pick<NewSavedAddress, 'user_id' | 'currency' | 'chain' | 'address' | 'name' | 'tag'>
/** Saved by its owner, who has proven to be it: the cooling time begins now, and does not begin again. */
export function addOwnAddress(ctx: Ctx, input: OwnAddress): SavedAddress {
  const saved = saveAddress(ctx, { ...input, verified: true, verified_at: null, actor: null })
  if (ctx.state.wallet.addresses.savedBy(input.user_id).length > SAVED_MAX)
    refuse('INVALID_PARAM_VALUE', `${SAVED_MAX} addresses are saved, which is the limit; forget one first`)
  return saved
}
export function deleteOwnAddress({ state, tx }: Ctx, input: { user_id: number; id: number }): null {
  const { saved } = state.wallet.addresses
  if (saved.get(input.id)?.user_id !== input.user_id)
    notFound('NOT_FOUND', `no saved address ${input.id}; GET /addresses lists them`)
  tx.remove(saved, input.id)
  return null
}
