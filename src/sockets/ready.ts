import type { Attach, ToDesk, Verdict } from './line.ts'

const refusal = (message: string): Verdict => ({
  accepted: false,
  status: 503,
  label: 'TOO_BUSY',
  message,
})

/** Sockets are let in only while the platform is ready: as /readyz says. */
export const whenReady =
  (attach: Attach, ready: () => boolean): Attach =>
  (door) => {
    const desk = attach(door)
    return {
      open: (socket, handshake) =>
        ready()
          ? desk.open(socket, handshake)
          : refusal('the platform is not ready; connect again in a few seconds'),
      received: (socket, text, at) => desk.received(socket, text, at),
      closed: (socket, code) => desk.closed(socket, code),
      behind: (socket, topic) => desk.behind(socket, topic),
      waiting: (bytes) => desk.waiting(bytes),
      gone: () => desk.gone(),
    }
  }

/** Where nobody answers sockets. */
export const NO_DESK: ToDesk = {
  open: () => refusal('sockets are not served here'),
  received: () => undefined,
  closed: () => undefined,
  behind: () => undefined,
  waiting: () => undefined,
  gone: () => undefined,
}
