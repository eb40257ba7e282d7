import { ask } from './asking.ts'

export { signedHeaders, type Signer } from '../api/signature.ts'

const PATIENCE_MS = 2_000
/**
 * The second that a request should carry: the platform's own, whose clock may have been moved. Where nobody tells it,
 * that of this machine, and `note` says so.
 */
export async function platformSecond(url: string, note: (line: string) => void): Promise<string> {
  const here = String(Math.floor(Date.now() / 1000))
  try {
    const { text } = await ask(`${url}/api/v4/spot/time`, { waitMs: PATIENCE_MS })
    const { server_time } = JSON.parse(text) as { server_time?: unknown }
    if (typeof server_time === 'number') return String(Math.floor(server_time / 1000))
    note(`what answers at ${url} tells no time; signed with this machine's`)
  } catch {
    note(`no platform answers at ${url}; signed with this machine's time`)
  }
  return here
}
