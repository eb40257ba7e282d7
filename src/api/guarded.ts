import type { Commands } from '../core/commands.ts'
import type { Port } from '../machine/core.ts'
import type { Role } from '../core/tables/operators.ts'
import type { Proposal } from '../core/tables/proposals.ts'
import type { State } from '../core/state.ts'
import type { AnyEndpoint, Call } from './endpoint.ts'
import { anything, array, int64, shape, str } from './shapes.ts'

const HIDDEN: ReadonlySet<string> = new Set(['secret_box', 'password_hash', 'token_hash', 'second_half'])
const proposalMembers = {
  id: int64,
  call: str,
  command: str,
  input: anything,
  role: str,
  asked_by: str,
  confirmations: array(shape({ operator: str, at: int64 })),
  state: str,
  reason: str,
  create_time: int64,
  expires_at: int64,
  effective_at: int64,
}
export const proposalShape = shape(proposalMembers)
/** The answer to a confirmation: a token that is given out in halves shows its second one here, once. */
export const confirmedShape = shape({ ...proposalMembers, 'token_second_half?': str })
export const proposalView = (proposal: Proposal) => ({
  id: proposal.id,
  call: proposal.call,
  command: proposal.command,
  input: Object.fromEntries(Object.entries(proposal.input).filter(([name]) => !HIDDEN.has(name))),
  role: proposal.role,
  asked_by: proposal.asked_by,
  confirmations: proposal.confirmations.map(({ operator, at }) => ({ operator, at })),
  state: proposal.state,
  reason: proposal.reason,
  create_time: Math.floor(proposal.at / 1e6),
  expires_at: Math.floor(proposal.expires_at / 1e6),
  effective_at: Math.floor(proposal.effective_at / 1e6),
})

/** Thrown through a handler in place of its command's reply: nothing has happened yet. */
export class Proposed extends Error {
  readonly proposal: Proposal
  private readonly more: Readonly<Record<string, unknown>>
  constructor(proposal: Proposal, more: Readonly<Record<string, unknown>> = {}) {
    super(`proposal ${proposal.id} waits for a second operator`)
    this.proposal = proposal
    this.more = more
  }
  /** The same, with what only this answer can show: a secret that was drawn for it. */
  with(more: Readonly<Record<string, unknown>>): Proposed {
    return new Proposed(this.proposal, { ...this.more, ...more })
  }
  get body(): object {
    return { ...this.more, proposal: proposalView(this.proposal) }
  }
}
/** Runs a handler's command; where it waits as a proposal, its answer carries `more` as well. */
export async function showing<T>(more: Readonly<Record<string, unknown>>, run: Promise<T>): Promise<T> {
  try {
    return await run
  } catch (error) {
    throw error instanceof Proposed ? error.with(more) : error
  }
}

/** The call as its handler gets it: with a core that proposes, where that is what the guard asks for. */
export function guardedCall<C extends Call<never, never, never>>(endpoint: AnyEndpoint, call: C): C {
  const { guarded } = endpoint
  const { desk } = call
  if (guarded === undefined || desk.mode !== 'live') return call
  if (guarded.when !== undefined && !(guarded.when as (call: C) => boolean)(call)) return call
  const name = `${endpoint.method} ${endpoint.path}`
  const core = proposing(desk.core, name, guarded.role, call.operator)
  return Object.create(call, { desk: { value: { ...desk, core } } }) as C
}
function proposing(
  core: Port<State, Commands>,
  call: string,
  role: Role,
  actor: string,
): Port<State, Commands> {
  let decided = false
  const submit = async (
    command: keyof Commands,
    input: Record<string, unknown>,
    view: (state: State, reply: unknown) => unknown = (_, reply) => reply,
  ): Promise<unknown> => {
    // The first command is the call's; those after it only end the work of one that took nobody else.
    if (decided) return core.submit(command, input as never, view as never)
    const asked = await core.submit('proposal.ask', { call, command, input, role, actor }, (state, asked) =>
      'proposal' in asked ? asked : { reply: view(state, asked.reply) },
    )
    if ('proposal' in asked) throw new Proposed(asked.proposal)
    decided = true
    return asked.reply
  }
  return {
    submit: submit,
    read: (view) => core.read(view),
    commits: core.commits,
    get committed() {
      return core.committed
    },
  }
}
