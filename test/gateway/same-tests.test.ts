import { test } from 'node:test'
import { again } from '../support/again.ts'
import { asWith } from '../support/machine.ts'
import { LONG } from '../support/size.ts'

/**
 * What is said over HTTP is the same with gateways: these files, which look at the door more than behind it, run once more with two,
 * and with the threads that a store has on a machine of more than two cores.
 */
const FILES = [
  'authentication',
  'faults',
  'limits',
  'requests',
  'spot-orders',
  ...(LONG ? ['cors', 'hosts', 'matrix', 'request-log', 'sockets'] : []),
]
/** And what real clients do over sockets. */
const SOCKETS = ['clients-gateio-calls', ...(LONG ? ['clients-ccxt'] : [])]

test('the tests of HTTP and of clients of sockets hold with two gateways', { timeout: 900_000 }, () =>
  again(
    [...FILES.map((name) => `http/${name}`), ...SOCKETS.map((name) => `sockets/${name}`)],
    { KONTOR_TEST_GATEWAYS: '2', ...asWith(3) },
    LONG ? 60 : 30,
  ),
)
