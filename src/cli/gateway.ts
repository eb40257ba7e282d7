import { readGatewayConfig } from '../config.ts'
import { endsSoon, readCredentials } from '../gateway/cert-files.ts'
import { RemoteGateway } from '../gateway/remote.ts'
import { createLog } from '../runtime/log.ts'
import { settingOptions, type Command } from './options.ts'

const LINGER_MS = 2_000

export const gateway: Command = {
  usage: 'kontor gateway --core HOST:PORT[,HOST:PORT…] --certs FOLDER [options]',
  detail: `Speaks HTTP and WebSocket with clients, and with the active core among those of --core, each of which listens at its
KONTOR_CORE_LISTEN. FOLDER holds authority.crt, and gateway.crt and gateway.key or those of this node (kontor certs).
It has no database, no data folder and no secret of any client; it may be started and ended at any time.

While the core moves or is away it holds requests for up to 10 s, and answers 503 to those of which nobody knows whether
they were carried out. GET /healthz is its own, GET /readyz fails while there is no core to ask. The operator API and
metrics are not reached through it.`,
  options: {
    core: { value: 'LIST', help: 'addresses of the cores, by comma (KONTOR_CORES)' },
    ...settingOptions(
      'certs',
      'node',
      'host',
      'port',
      'log',
      'trust-proxy',
      'connections',
      'address-connections',
      'request-seconds',
    ),
  },
  words: 0,
  run: async ({ env, values }) => {
    const { core } = values
    const config = readGatewayConfig(core === undefined ? env : { ...env, KONTOR_CORES: core })
    // A wrong start is told at once; later they are read again for each line that is made.
    const days = endsSoon(readCredentials(config.certs, config.node, 'gateway'))
    const log = createLog(config.log, (line) => process.stderr.write(`${line}\n`))
    if (days !== undefined) log.warn('the certificates of this gateway end soon', { days })
    // A reader of the log that goes away takes nothing with it.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
    const told = new Promise<void>((resolve) => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
    })
    const gateway = new RemoteGateway(config, log)
    await gateway.start()
    process.stdout.write(`kontor gateway listening on ${gateway.url}\n`)
    void gateway.ready.then(() => process.stdout.write(`kontor ready on ${gateway.url}\n`))
    await told
    log.info('stopping')
    await gateway.stop()
    setTimeout(() => process.exit(0), LINGER_MS).unref()
    return 0
  },
}
