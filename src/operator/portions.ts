import type { Desk } from '../api/endpoint.ts'
import { Refusal } from '../labels.ts'
import type { DueCommand, DueItem } from '../core/due.ts'

/**
 * Runs what a call has left as portions of due work, until none is left: the call answers when all of it is durable.
 * The ticker does the same work if this process ends in between.
 */
export async function finishPortions(
  { core }: Desk,
  command: DueCommand,
  ours: (input: DueItem['input']) => boolean,
): Promise<void> {
  const next = (): Promise<DueItem | undefined> =>
    core.read(({ due }) => {
      for (const item of due.table.values()) if (item.command === command && ours(item.input)) return item
      return undefined
    })
  for (let item = await next(); item !== undefined; item = await next())
    await core.submit('due.run', { id: item.id }).catch((error: unknown) => {
      // The ticker was quicker.
      if (!(error instanceof Refusal && error.label === 'NOT_FOUND')) throw error
    })
}
