/** What `all` runs, each part in a process of its own, and how docs/BENCHMARKS.md speaks of it. */
export interface Part {
  readonly name: string
  readonly title: string
  readonly about: string
}
export const PARTS = [
  {
    name: 'http',
    title: 'Signed transfers over HTTP',
    about:
      'Each moves money and is on the disk before its reply. Beside it, in turn: a bare server that checks the same signature, parses the JSON and does nothing else; and the same server with the usual design behind it, one PostgreSQL transaction for each request that locks two balances, each request those of another pair of accounts. `ratio` is to the bare server.',
  },
  {
    name: 'orders',
    title: 'Signed orders over HTTP',
    about:
      'Half of them rest in the book, the others take one of those; matched, settled and on the disk before the reply. `ratio` is to the bare server.',
  },
  {
    name: 'core',
    title: 'The core without HTTP',
    about:
      'Durable transfers of 64 clients that wait for each reply, over each store, beside one SQL transaction for each request over a pool on the same PostgreSQL. `ratio` is to that.',
  },
  {
    name: 'futures',
    title: 'Orders of contracts beside those of spot',
    about:
      'On one platform, in turn: margin, positions and fees instead of a simple hold. `ratio` is to spot.',
  },
  {
    name: 'match',
    title: 'Matching beside nodejs-order-book',
    about:
      'The same stream on 100,000 resting orders: 55 % orders that rest, 35 % cancellations, 10 % that cross. That library and the book alone know neither money nor records; the whole core has its checks, holds, fills, fees, ledger lines and undo records (no disk, no HTTP). `ratio` is to the library.',
  },
  {
    name: 'risk',
    title: 'Risk: prices that move, and a crash',
    about:
      'Accounts in debt that are looked at again after a price tick, liquidations in a fall of the market, and the longest turns that one account can cause. No disk, no HTTP.',
  },
  {
    name: 'sockets-trades',
    title: 'Streams: every trade to every subscriber',
    about:
      'Beside a bare `ws` server that broadcasts frames of the same size. `ratio` is to it; CPU is that of the server for each frame; the delay is from the reply of an order to its frame, with an order every 25 ms.',
  },
  {
    name: 'sockets-books',
    title: 'Streams: books',
    about:
      'Paced by 20 ms, 250 changes a second, beside a bare `ws` server that broadcasts frames of the same size at the same pace. `ratio` is to it; the delay is from the reply of a change to the frame that has it, and of the bare server, which does not wait for a pace, from its answer to the frame.',
  },
  {
    name: 'sockets-entry',
    title: 'Orders over sockets beside HTTP',
    about: '32 connections. `ratio` is to HTTP.',
  },
  {
    name: 'sockets-idle',
    title: 'Idle sockets',
    about: 'Memory of all processes of the platform for each of them.',
  },
  {
    name: 'sockets-slow',
    title: 'One who never reads',
    about: 'What it costs a hundred others who do.',
  },
  {
    name: 'steady',
    title: 'Half of the most, for a while',
    about:
      '30 % transfers, 30 % orders, 40 % reads of 16 accounts on 128 connections: first as much as goes, then half of it in an open loop, where a latency counts from the moment at which a request should have been sent. Beside it, at the same rate, a bare server that only checks signatures: what its slowest requests wait for is the machine. The soak below is the same for an hour.',
  },
  {
    name: 'load',
    title: 'A start with many balances',
    about: 'Medians of three starts, until it answers; memory is the most that the process ever had.',
  },
  {
    name: 'tail',
    title: 'A start with a full journal',
    about: 'How much longer a start takes when the tables had been held back until the bound.',
  },
  {
    name: 'history',
    title: 'A page of history',
    about:
      'A page of 100 records with its total, of an account with 10^3 records and of one with 10^6, in one file.',
  },
  {
    name: 'worlds',
    title: 'Many worlds in one process',
    about: 'Forked from one start, as tests use them.',
  },
  {
    name: 'growth-accounts',
    title: 'Growth: balances',
    about: 'Start, memory and orders a second with more and more balances of other accounts.',
  },
  {
    name: 'growth-history',
    title: 'Growth: history',
    about:
      'One account goes on trading; after so many orders: how fast it trades, and how long its last page of trades and of finished orders takes.',
  },
  {
    name: 'growth-resting',
    title: 'Growth: resting orders',
    about: 'Orders that rest or take, at the top of a book in which so many others rest.',
  },
  {
    name: 'growth-keys',
    title: 'Growth: keys',
    about: 'Signed reads by a thousand keys (or all) of so many.',
  },
  {
    name: 'growth-sockets',
    title: 'Growth: sockets',
    about: 'Memory, and the latency of orders at a fixed rate, while so many sockets are open and idle.',
  },
] as const satisfies readonly Part[]
export type PartName = (typeof PARTS)[number]['name']
