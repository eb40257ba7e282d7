import { readGatewayConfig, type Config } from '../../src/config.ts'
import { RemoteGateway } from '../../src/gateway/remote.ts'
import { createLog } from '../../src/runtime/log.ts'
import { freePort } from './ports.ts'
import { Certs } from './remote.ts'

/**
 * With KONTOR_TEST_REMOTE clients of every platform of the tests come through a gateway as it would be on another machine,
 * unless a test has certificates of its own. See test/cluster/gateway-same-tests.test.ts.
 */
export interface RemoteFront {
  readonly url: string
  stop(): Promise<void>
}
export const remoteAsked = (
  env: Record<string, string>,
): ((config: Config) => Promise<RemoteFront>) | undefined =>
  process.env['KONTOR_TEST_REMOTE'] === undefined || env['KONTOR_CERTS'] !== undefined ? undefined : front

export async function remoteSettings(): Promise<Record<string, string>> {
  const certs = new Certs()
  process.on('exit', () => certs.remove())
  return { KONTOR_CORE_LISTEN: `127.0.0.1:${await freePort()}`, KONTOR_CERTS: certs.folder }
}
async function front({ coreListen, certs, sockets, host }: Config): Promise<RemoteFront> {
  const gateway = new RemoteGateway(
    readGatewayConfig({
      KONTOR_PORT: '0',
      KONTOR_HOST: host,
      KONTOR_CORES: coreListen,
      KONTOR_CERTS: certs,
      KONTOR_REQUEST_SECONDS: String(sockets.requestSeconds),
      KONTOR_CONNECTIONS: sockets.connections === undefined ? '' : String(sockets.connections),
      KONTOR_ADDRESS_CONNECTIONS:
        sockets.addressConnections === undefined ? '' : String(sockets.addressConnections),
    }),
    createLog('error', (line) => process.stderr.write(`${line}\n`)),
  )
  await gateway.start()
  await gateway.ready
  return gateway
}
