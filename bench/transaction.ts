import pg from 'pg'

/** What most back ends do: every request is a transaction that locks both balances, in order, over a pool. */
const CONNECTIONS = 16

export interface Transactions {
  /** From one balance of a pair to the other, or back. */
  readonly transfer: (pair: number, back: boolean) => Promise<void>
  readonly close: () => Promise<void>
}
export async function transactionPerRequest(url: string, pairs: number): Promise<Transactions> {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS })
  await pool.query('create table balance (id bigint primary key, amount numeric not null)')
  await pool.query(
    'create table movement (id bigserial primary key, from_id bigint, to_id bigint, amount numeric, at timestamptz default now())',
  )
  await pool.query(`insert into balance select id, 1000000000 from generate_series(1, ${pairs * 2}) id`)
  return {
    transfer: async (pair, back) => {
      const [from, to] = back ? [pair * 2 + 2, pair * 2 + 1] : [pair * 2 + 1, pair * 2 + 2]
      const connection = await pool.connect()
      try {
        await connection.query('begin')
        await connection.query({
          name: 'lock',
          text: 'select id, amount from balance where id in ($1, $2) order by id for update',
          values: [from, to],
        })
        await connection.query({
          name: 'insert',
          text: 'insert into movement (from_id, to_id, amount) values ($1, $2, $3)',
          values: [from, to, '1.5'],
        })
        await connection.query({
          name: 'update',
          text: 'update balance set amount = amount + case id when $1 then -$3::numeric else $3::numeric end where id in ($1, $2)',
          values: [from, to, '1.5'],
        })
        await connection.query('commit')
      } finally {
        connection.release()
      }
    },
    close: () => pool.end(),
  }
}
