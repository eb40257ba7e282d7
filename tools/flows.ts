import type { Flow } from '../src/core/flow.ts'
import { DEPOSIT_FLOW, DEPOSIT_MONEY } from '../src/core/tables/deposit.flow.ts'
import { REFUND_FLOW, REFUND_MONEY } from '../src/core/tables/refund.flow.ts'
import { PUSH_FLOW, PUSH_MONEY } from '../src/core/tables/push.flow.ts'
import { SWEEP_FLOW, SWEEP_MONEY } from '../src/core/tables/sweep.flow.ts'
import { WITHDRAWAL_FLOW, WITHDRAWAL_MONEY } from '../src/core/tables/withdrawal.flow.ts'

/** docs/FLOWS.md, drawn from the tables that the rules run on: it can't be wrong. */
function section<S extends string>(
  title: string,
  about: string,
  flow: Flow<S, string>,
  money: Readonly<Record<S, string>>,
): string {
  const statuses = Object.keys(flow) as S[]
  const exits = (status: S): [string, S][] => Object.entries(flow[status]) as [string, S][]
  const drawing = statuses.flatMap((from) =>
    exits(from).map(([event, to]) => `  ${from} --> ${to}: ${event}`),
  )
  const rows = statuses.map((status) => {
    const list = exits(status).map(([event, to]) => `${event} → ${to}`)
    return `| ${status} | ${money[status]} | ${list.length === 0 ? 'the end' : list.join(', ')} |`
  })
  return [
    `## ${title}`,
    '',
    about,
    '',
    '| status | where the money is | events |',
    '|---|---|---|',
    ...rows,
    '',
    '```mermaid',
    'stateDiagram-v2',
    ...drawing,
    '```',
  ].join('\n')
}

export const flowsDocument = (): string =>
  [
    '# Flows',
    '',
    'Made by `npm run docs` from `src/core/**/*.flow.ts`; a test compares. What is not in a table can not happen.',
    '',
    section(
      'Withdrawal',
      'Begins as REQUEST, or as the first hold that the policy asks for. `docs/walkthrough-withdrawal.md` tells how to reach each status.',
      WITHDRAWAL_FLOW,
      WITHDRAWAL_MONEY,
    ),
    '',
    section(
      'Deposit',
      'Begins as PEND; as MANUAL, INVALID or REVIEW when something is wrong with it at first sight.',
      DEPOSIT_FLOW,
      DEPOSIT_MONEY,
    ),
    '',
    section(
      'Refund of a blocked deposit',
      'refund_status of a deposit that is BLOCKED; NONE is not shown. The payment itself is a withdrawal of user 0.',
      REFUND_FLOW,
      REFUND_MONEY,
    ),
    '',
    section(
      'Sweep (deposit address to hot wallet, and the gas for it)',
      'Begins as SIGNED. `docs/evm.md` tells when.',
      SWEEP_FLOW,
      SWEEP_MONEY,
    ),
    '',
    section('Push (transfer by user id)', 'Begins as CREATING.', PUSH_FLOW, PUSH_MONEY),
    '',
  ].join('\n')
