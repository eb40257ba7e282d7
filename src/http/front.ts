import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Cors } from './cors.ts'
import type { Hosts } from './hosts.ts'
import type { Serve } from './starting.ts'
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
  constructor(hosts: Hosts, site: Pages, api: Serve, cors: Cors) {
    this.hosts = hosts
    this.site = site
    this.api = api
    this.cors = cors
  }
  readonly serve: Serve = (request, response) => {
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
    this.api(request, response)
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
