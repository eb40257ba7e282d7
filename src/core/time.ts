/** The core's clock counts microseconds. */
export const SECOND = 1e6
export const HOUR = 3_600 * SECOND
export const DAY = 24 * HOUR
export const DAY_SECONDS = 86_400

/** Days, and hours, since 1970, UTC. */
export const dayOf = (at: number): number => Math.floor(at / DAY)
export const hourOf = (at: number): number => Math.floor(at / HOUR)
export const secondsOf = (at: number): number => Math.floor(at / SECOND)
