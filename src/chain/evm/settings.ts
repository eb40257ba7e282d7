import type { ChainConfig } from '../../core/tables/world/chains.ts'
import type { EvmSettings } from '../../config-file.ts'

const text = (value: unknown): value is string => typeof value === 'string' && value !== ''
const count = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** The error names the place in the configuration file. */
export function readSettings({ chain, node = {}, address_format, tagged }: ChainConfig): EvmSettings {
  const need = (right: boolean, what: string): void => {
    if (!right) throw new TypeError(`chains: ${chain}.${what}`)
  }
  const given: Record<string, unknown> = { poll_ms: 4000, max_fee_gwei: 500, ...node }
  need(address_format === 'evm' && !tagged, 'address_format must be evm, and tagged false')
  need(text(given['rpc_url']) && /^https?:\/\//.test(given['rpc_url']), 'node.rpc_url must be an http(s) URL')
  need(count(given['chain_id']) && given['chain_id'] > 0, 'node.chain_id must be a whole number above 0')
  need(text(given['xpub']) && given['xpub'].startsWith('xpub'), 'node.xpub must be an extended public key')
  need(count(given['poll_ms']) && given['poll_ms'] >= 50, 'node.poll_ms must be 50 or more')
  need(count(given['max_fee_gwei']) && given['max_fee_gwei'] > 0, 'node.max_fee_gwei must be above 0')
  need(
    given['start_block'] === undefined || count(given['start_block']),
    'node.start_block must be a block number',
  )
  const fromFile = text(given['keystore']) && text(given['password_env'])
  need(
    text(given['key_env']) !== fromFile,
    'node needs key_env, or keystore with password_env: where the hot wallet’s key is',
  )
  const swept = text(given['sweeper_keystore']) && text(given['sweeper_password_env'])
  const unswept = given['sweeper_keystore'] === undefined && given['sweeper_password_env'] === undefined
  need(
    given['sweeper_env'] === undefined ? swept || unswept : text(given['sweeper_env']) && unswept,
    'node takes sweeper_env, or sweeper_keystore with sweeper_password_env, or neither: where the sweeper’s secret is',
  )
  return given as unknown as EvmSettings
}
