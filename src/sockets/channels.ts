import { CONTRACT_CHANNELS } from './contract-channels.ts'
import type { Channel } from './payloads.ts'
import { SPOT_CHANNELS } from './spot-channels.ts'

/** Every channel that there is to subscribe to: serving and reference walk these. */
export const CHANNELS: readonly Channel[] = [...SPOT_CHANNELS, ...CONTRACT_CHANNELS]
export const CHANNEL_BY_NAME: ReadonlyMap<string, Channel> = new Map(
  CHANNELS.map((channel) => [channel.name, channel]),
)
