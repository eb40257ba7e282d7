import { Socket } from 'node:net'
import { Bodies } from '../http/bodies.ts'
import { HttpServer } from '../http/server.ts'
import type { SocketDoor } from '../sockets/door.ts'
import { VERSION } from '../version.ts'
import type { Settings } from './protocol.ts'
import { Relay } from './relay.ts'
import { RemoteRoom } from './remote-room.ts'
import { speaking } from './speaking.ts'

/**
 * A gateway: a process of its own that speaks HTTP with clients and frames with the core. The core's process starts it,
 * gives it connections, and tells it when to end; without that process it is nothing, and ends.
 */
const CHANNEL_FD = 4
// A terminal and some supervisors signal the whole group: who decides is the core's process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('disconnect', () => process.exit(0))

let server: HttpServer | undefined
let sockets: SocketDoor | undefined
const relay = new Relay(new Socket({ fd: CHANNEL_FD, readable: true, writable: true }), {
  version: VERSION,
  welcome,
  stop: () => void Promise.all([sockets?.shut(), server?.close()]).then(() => process.exit(0)),
  // Whoever waits for a reply will not get it: that is what a lost connection tells.
  closed: () => process.exit(0),
})

function welcome(settings: Settings): void {
  const room = new RemoteRoom(
    (address, bytes) => relay.hold(address, bytes),
    (address, bytes) => relay.release(address, bytes),
  )
  const front = speaking(settings, relay, new Bodies(room), settings.host)
  sockets = front.sockets
  server = new HttpServer({
    serve: front.serve,
    upgrade: front.upgrade,
    warn: (message, fields = {}) => relay.log('warn', message, fields),
    // The core's process counts them, for all gateways.
    connections: Infinity,
    addressConnections: Infinity,
    requestMs: settings.requestMs,
    left: (address) => relay.left(address),
    cut: (total) => relay.figures(total),
  })
  server.open()
  front.begin()
  process.on('message', ([number, address]: [number, string], socket: Socket | undefined) => {
    relay.took(number)
    // It may have gone while it was handed over.
    if (socket === undefined) relay.left(address)
    else server!.adopt(socket, address)
  })
}
