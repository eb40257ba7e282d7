import { setTimeout as sleep } from 'node:timers/promises'
import type { Credentials } from '../runtime/credentials.ts'
import { LeaseWatch } from '../runtime/lease.ts'
import type { Made } from './made.ts'
import { Warm } from './warm.ts'
import { openWorld, takeWorld } from './world.ts'

const LOOK_MS = 40
const AWAY_MS = 250

/** Follows the active core until its place is free, and takes it: memory is as far as the journal by then. */
export async function standBy(made: Made): Promise<Credentials> {
  const { config, log, ground } = made
  const warm = new Warm(made)
  // A database without a world has nothing to follow.
  if (ground.made) warm.start()
  made.store.prepare()
  const watch = new LeaseWatch(config.databaseUrl!, config.node, config.leaseMs)
  try {
    await turn(made, watch, warm)
  } finally {
    await watch.close()
    await warm.stop()
  }
  const began = performance.now()
  await ground.ownership.takeOver()
  const cold = warm.at === undefined
  const credentials = await (cold ? openWorld(made, 'held') : takeWorld(made, warm))
  log.warn('this node is the active core now', {
    node: config.node,
    sequence: made.core.committed.sequence,
    warm: !cold,
    ms: Math.round(performance.now() - began),
  })
  return credentials
}

/** Resolves when this node holds the lease, and nobody else thinks that he does. */
async function turn({ config, lease, doors, log, line }: Made, watch: LeaseWatch, warm: Warm): Promise<void> {
  let away = false
  for (let prepared = false; ;) {
    try {
      if (!prepared) await watch.prepare()
      prepared = true
      const seen = await watch.look()
      const row = watch.row!
      line?.tell({ active: false, at: row.address === '' ? undefined : row.address, epoch: row.epoch })
      doors.tell(
        `it stands by for ${row.node === '' ? 'whoever comes' : row.node}, at batch ${warm.at?.sequence ?? 0}`,
      )
      if (away) log.info('the database answers')
      away = false
      if (seen === 'free' && (await lease!.take(row))) {
        // It was seen to stand still for as long as it could hold, or was given back.
        lease!.takenAfterEnd()
        log.info('the lease is taken', { from: row.node === '' ? undefined : row.node, node: config.node })
        return
      }
      await sleep(LOOK_MS)
    } catch (error) {
      if (!away) log.warn('the database does not answer; it is tried again', { error })
      away = true
      await sleep(AWAY_MS)
    }
  }
}
