import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Site } from '../docs/site.ts'
import type { Cors } from './cors.ts'
import type { Gateway } from './gateway.ts'
import type { Hosts } from './hosts.ts'
import { refuseRequest } from './http.ts'

/** Where every request arrives: signs of life, then the name it was sent to, then pages or the API. */
export class Front {
  private readonly hosts: Hosts
  private readonly site: Site
  private readonly gateway: Gateway
  private readonly cors: Cors
  constructor(hosts: Hosts, site: Site, gateway: Gateway, cors: Cors) {
    this.hosts = hosts
    this.site = site
    this.gateway = gateway
    this.cors = cors
  }
  serve(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? '/'
    const api = url.startsWith('/api/')
    const mark = url.indexOf('?')
    const path = api || mark === -1 ? url : url.slice(0, mark)
    if (!api && this.site.serveHealth(path, request, response)) return
    const { host } = request.headers
    if (host === undefined ? request.httpVersion === '1.1' : !this.hosts.allows(host)) {
      this.turnAway(host, response)
      return
    }
    if (!api && this.site.serve(path, request, response)) return
    if (api && !this.cors.off && this.cors.serve(request, response)) return
    void this.gateway.serve(request, response)
  }
  private turnAway(host: string | undefined, response: ServerResponse): void {
    const close = ['Connection', 'close']
    if (host === undefined)
      refuseRequest(
        response,
        400,
        'BAD_REQUEST',
        'an HTTP/1.1 request carries a Host header; send one',
        close,
      )
    else
      refuseRequest(
        response,
        403,
        'FORBIDDEN',
        `Host "${host.slice(0, 80)}" is not a name of this platform; use its address, or add the name to KONTOR_HOSTS`,
        close,
      )
  }
}
