import { createServer } from 'node:net'

/**
 * Below the ports that a machine gives to whoever does not name one (`listen(0)`, every connection that leaves): of
 * those a port that was free a moment ago may be somebody's when it is bound. Tests that run at the same time begin
 * at different places.
 */
const FIRST = 20_000
const PROCESSES = 300
const OF_A_PROCESS = 40
let taken = 0

/** A port that nobody listens on, and that nobody else is given. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + (((process.pid % PROCESSES) * OF_A_PROCESS + taken++) % (PROCESSES * OF_A_PROCESS))
    if (await isFree(port)) return port
  }
}
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) ports.push(await freePort())
  return ports
}
const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
