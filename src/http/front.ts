import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Label } from '../labels.ts'
import type { Cors } from './cors.ts'
import type { Hosts } from './hosts.ts'
import type { Serve } from './starting.ts'
import { refuseUpgrade, type Upgrade, type Upgrades } from './upgrade.ts'
import { refuseRequest } from './words.ts'

/** Pages for people and signs of life; false: that is none of them. */
export interface Pages {
  serveHealth(path: string, request: IncomingMessage, response: ServerResponse): boolean
  serve(path: string, request: IncomingMessage, response: ServerResponse): boolean
}

/** Where every request arrives: signs of life, then the name it was sent to, then pages or the API. */
export class Front {
  private readonly hosts: Hosts
  private readonly site: Pages
  private readonly api: Serve
  private readonly cors: Cors
  private readonly sockets: Upgrades | undefined
  /** Without `sockets` no path is one of theirs. */
  constructor(hosts: Hosts, site: Pages, api: Serve, cors: Cors, sockets?: Upgrades) {
    this.hosts = hosts
    this.site = site
    this.api = api
    this.cors = cors
    this.sockets = sockets
  }
  readonly serve: Serve = (request, response) => {
    const url = request.url ?? '/'
    const api = url.startsWith('/api/')
    const mark = url.indexOf('?')
    const path = api || mark === -1 ? url : url.slice(0, mark)
    if (!api && this.site.serveHealth(path, request, response)) return
    const { host } = request.headers
    if (host === undefined ? request.httpVersion === '1.1' : !this.hosts.allows(host)) {
      const [status, label, message] = foreign(host)
      refuseRequest(response, status, label, message, ['Connection', 'close'])
      return
    }
    if (
      !api &&
      this.sockets?.serves(path) === true &&
      (request.method === 'GET' || request.method === 'HEAD')
    ) {
      refuseRequest(
        response,
        426,
        'INVALID_PROTOCOL',
        `${path} is for WebSocket; connect with ws:// or wss://`,
        ['Upgrade', 'websocket', 'Connection', 'Upgrade, close'],
      )
      return
    }
    if (!api && this.site.serve(path, request, response)) return
    if (api && !this.cors.off && this.cors.serve(request, response)) return
    this.api(request, response)
  }
  readonly upgrade: Upgrade = (request, socket, head) => {
    const url = request.url ?? '/'
    const mark = url.indexOf('?')
    const path = mark === -1 ? url : url.slice(0, mark)
    const { host } = request.headers
    if (host === undefined || !this.hosts.allows(host)) refuseUpgrade(request, socket, ...foreign(host))
    else if (this.sockets?.serves(path) === true) this.sockets.upgrade(request, socket, head)
    else
      refuseUpgrade(
        request,
        socket,
        404,
        'NOT_FOUND',
        `${path.slice(0, 80)} is no address of a socket; spot is at /ws/v4/, others below /v4/ws/`,
      )
  }
}

const foreign = (host: string | undefined): [status: number, label: Label, message: string] =>
  host === undefined
    ? [400, 'BAD_REQUEST', 'an HTTP/1.1 request carries a Host header; send one']
    : [
        403,
        'FORBIDDEN',
        `Host "${host.slice(0, 80)}" is not a name of this platform; use its address, or add the name to KONTOR_HOSTS`,
      ]
