import { MANY, ORDERS, openWith, trade } from '../support/staged.ts'

/** Lets thousands of durable orders into the tables of the file that it is given, until somebody kills it. */
const store = await openWith(process.argv[2]!, MANY)
await trade(store, ORDERS)
process.stdout.write('go\n')
await store.holdBack(false)
setInterval(() => undefined, 1_000)
