import { Link } from '@tanstack/react-router'
import { useOwn } from '../../api/query.ts'
import { Amount } from '../../parts/Amount.tsx'
import { Card } from '../../parts/Page.tsx'
import { ApiError } from '../../api/errors.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import {
  SCOPES,
  ask,
  currencyOf,
  isHeld,
  scopeWords,
  type Account,
  type Scope,
} from '../futures/contracts.ts'
import { Positions } from '../futures/Positions.tsx'

interface Row {
  readonly scope: Scope
  readonly account: Account
}
async function accountOf(scope: Scope): Promise<Row[]> {
  try {
    const path = { settle: scope.settle }
    return [{ scope, account: await ask(scope.group, 'GET /api/v4/futures/{settle}/accounts', { path }) }]
  } catch (error) {
    if (error instanceof ApiError && error.label === 'USER_NOT_FOUND') return []
    throw error
  }
}
/** The accounts of contracts that there are, and what they hold. */
export function ContractAccounts(): React.JSX.Element {
  const accounts = useOwn(
    ['contracts', 'accounts'],
    async () => (await Promise.all(SCOPES.map(accountOf))).flat(),
    { every: 5_000, stale: 0 },
  )
  return (
    <>
      <Card title="Contracts" flush actions={<Link to="/futures">Trade contracts</Link>}>
        <Loaded of={accounts}>
          {(rows) => (
            <Table
              label="Accounts of contracts"
              rows={rows}
              rowKey={({ scope }) => scopeWords(scope)}
              empty={<Empty>No account of contracts has had money yet.</Empty>}
              columns={[
                { name: 'Account', cell: ({ scope }) => scopeWords(scope) },
                {
                  name: 'Total',
                  right: true,
                  cell: ({ scope, account }) => (
                    <Amount value={account.total} places={8} currency={currencyOf(scope)} />
                  ),
                },
                {
                  name: 'Available',
                  right: true,
                  cell: ({ scope, account }) => (
                    <Amount value={account.available} places={8} currency={currencyOf(scope)} />
                  ),
                },
                {
                  name: 'In positions',
                  right: true,
                  cell: ({ scope, account }) => (
                    <Amount value={account.position_margin} places={8} currency={currencyOf(scope)} />
                  ),
                },
                {
                  name: 'In orders',
                  right: true,
                  cell: ({ scope, account }) => (
                    <Amount value={account.order_margin} places={8} currency={currencyOf(scope)} />
                  ),
                },
                {
                  name: 'Unrealised PnL',
                  right: true,
                  cell: ({ scope, account }) => (
                    <Amount value={account.unrealised_pnl} places={8} signed currency={currencyOf(scope)} />
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </Card>
      {accounts.data?.map(({ scope }) => (
        <Held key={scopeWords(scope)} scope={scope} />
      ))}
    </>
  )
}
function Held({ scope }: { readonly scope: Scope }): React.JSX.Element | null {
  const list = useOwn(
    ['contracts', scope.group, scope.settle, 'positions'],
    () =>
      ask(scope.group, 'GET /api/v4/futures/{settle}/positions', {
        path: { settle: scope.settle },
        query: { limit: 100 },
      }),
    { every: 5_000, stale: 0 },
  ).data?.filter(isHeld)
  if (list === undefined || list.length === 0) return null
  return (
    <Card title={`Positions: ${scopeWords(scope)}`} flush>
      <Positions scope={scope} list={list} short />
    </Card>
  )
}
