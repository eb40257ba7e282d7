import { test } from 'node:test'
import { again } from '../support/again.ts'
import { LONG } from '../support/size.ts'

/** What is said to clients is the same through a gateway on another machine; operators and metrics are at the core alone. */
const FILES = [
  'http/authentication',
  'http/transfers',
  'sockets/clients-gateio-calls',
  ...(LONG ? ['http/rubbish', 'http/signature-hints', 'sockets/private-truth', 'sockets/subscriptions'] : []),
]

test('tests of HTTP and of sockets hold through a gateway on another machine', { timeout: 600_000 }, () =>
  again(FILES, { KONTOR_TEST_REMOTE: '1' }, LONG ? 30 : 15),
)
