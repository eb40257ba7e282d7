import { GroupIndex, Table, UniqueIndex, type TableSpec } from '../../machine/table.ts'

/** Where a user's deposits on a chain arrive. Made at first asking, never reused. */
export interface DepositAddress {
  readonly chain: string
  readonly address: string
  /** Empty on chains without tags; there one address serves all and the tag tells the account. */
  readonly tag: string
  readonly user_id: number
  readonly at: number
}
export const DEPOSIT_ADDRESS: TableSpec<DepositAddress> = {
  name: 'deposit_address',
  key: ['chain', 'user_id'],
  columns: { chain: 'text', address: 'text', tag: 'text', user_id: 'int', at: 'int' },
}
/** An address that an account may pay to. */
export interface SavedAddress {
  readonly id: number
  readonly user_id: number
  readonly currency: string
  readonly chain: string
  readonly address: string
  readonly name: string
  readonly tag: string
  readonly verified: boolean
  /** Microseconds; null while unverified. The cooling time counts from here. */
  readonly verified_at: number | null
  readonly at: number
}
export const SAVED_ADDRESS: TableSpec<SavedAddress> = {
  name: 'saved_address',
  key: ['id'],
  columns: {
    id: 'int',
    user_id: 'int',
    currency: 'text',
    chain: 'text',
    address: 'text',
    name: 'text',
    tag: 'text',
    verified: 'bool',
    verified_at: 'int',
    at: 'int',
  },
}

const place = (chain: string, address: string, tag: string): string => `${chain}/${address}/${tag}`

export class Addresses {
  readonly deposit = new Table(DEPOSIT_ADDRESS)
  readonly saved = new Table(SAVED_ADDRESS)
  private readonly byPlace = new UniqueIndex(this.deposit, ({ chain, address, tag }) =>
    place(chain, address, tag),
  )
  private readonly byUser = new GroupIndex(this.saved, ({ user_id }) => user_id)

  of(chain: string, userId: number): DepositAddress | undefined {
    return this.deposit.get(`${chain}/${userId}`)
  }
  /** Whose address it is, when it is one of ours. */
  owner(chain: string, address: string, tag: string): DepositAddress | undefined {
    return this.byPlace.get(place(chain, address, tag))
  }
  savedBy(userId: number): SavedAddress[] {
    return [...this.byUser.get(userId)].sort((a, b) => a.id - b.id)
  }
  /** The saved address that covers a payment: with exactly its tag. One without a tag covers payments without one. */
  findSaved(
    userId: number,
    currency: string,
    chain: string,
    address: string,
    tag: string,
  ): SavedAddress | undefined {
    for (const saved of this.byUser.get(userId))
      if (
        saved.currency === currency &&
        saved.chain === chain &&
        saved.address === address &&
        saved.tag === tag
      )
        return saved
    return undefined
  }
}
