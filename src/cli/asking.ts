import type { RequestOptions } from 'node:http'

export interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** It fails when nothing has come for so long. */
  readonly waitMs?: number | undefined
}

/** One request by node's own client: to load `fetch` takes longer than everything else that a short command does. */
export async function ask(
  url: string,
  { method = 'GET', headers = {}, body, waitMs }: Asked = {},
): Promise<{ status: number; text: string }> {
  const { request } = await (url.startsWith('https:') ? import('node:https') : import('node:http'))
  const options: RequestOptions = {
    method,
    headers: {
      ...headers,
      ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
    },
    ...(waitMs !== undefined && { signal: AbortSignal.timeout(waitMs) }),
  }
  return new Promise((resolve, reject) => {
    const asked = request(url, options, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode!, text: Buffer.concat(parts).toString() }),
      )
    })
    asked.on('error', reject)
    asked.end(body)
  })
}
