import type { ToDesk } from '../../src/sockets/line.ts'

/** Where nobody answers sockets. */
export const NO_DESK: ToDesk = {
  open: () => ({ accepted: false, status: 503, label: 'TOO_BUSY', message: 'sockets are not served here' }),
  received: () => undefined,
  called: () => undefined,
  closed: () => undefined,
  behind: () => undefined,
  waiting: () => undefined,
  gone: () => undefined,
}
