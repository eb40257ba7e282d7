import { endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import { id, integer, object, oneOf, optional, text, withDefault } from '../api/fields.ts'
import { confirmedShape, proposalShape, proposalView } from '../api/guarded.ts'
import { array } from '../api/shapes.ts'
import { PROPOSAL, PROPOSAL_STATES } from '../core/tables/proposals.ts'
import type { Controls } from './platform.ts'

const ID = { id: id() }

/** What takes two people in live mode waits here for the second one. */
export const proposalEndpoints = (controls: Controls): readonly AnyEndpoint[] => [
  endpoint({
    method: 'GET',
    path: '/proposals',
    summary: 'Lists what waits for a second operator (live mode), or what became of it, newest first',
    access: operatorOf('viewer'),
    limit: null,
    query: {
      state: optional(oneOf(...PROPOSAL_STATES)),
      limit: withDefault(integer(1, 1000), 100),
      offset: withDefault(integer(0, 1_000_000), 0),
    },
    status: 200,
    reply: array(proposalShape),
    refuses: [],
    handle: async ({ desk, query }) => {
      const where = query.state === null ? '' : 'where "state" = ? '
      const values = [...(query.state === null ? [] : [query.state]), query.limit, query.offset]
      const rows = await desk.store.select(PROPOSAL, `${where}order by "id" desc limit ? offset ?`, values)
      return rows.map(proposalView)
    },
  }),
  endpoint({
    method: 'POST',
    path: '/proposals/{id}/confirm',
    dear: true,
    summary: 'Agrees to a proposal of somebody else; with the second yes it is carried out',
    access: operatorOf('operator'),
    limit: null,
    params: ID,
    status: 200,
    reply: confirmedShape,
    refuses: ['NOT_FOUND', 'FORBIDDEN'],
    handle: async ({ desk, operator, path }) => {
      const proposal = await desk.core.submit('proposal.confirm', { id: path.id, actor: operator })
      if (proposal.state !== 'done') return proposalView(proposal)
      // What its own call would have waited for; the answer is the same whether a chain responds or not.
      const chains = await desk.core.read(({ world }) => world.allChains.map(({ chain }) => chain))
      for (const chain of chains) void desk.chains.step(chain)
      await controls.settle()
      const half = proposal.input['second_half']
      const opened = typeof half === 'string' ? desk.secrets.open(half) : undefined
      return { ...proposalView(proposal), ...(opened !== undefined && { token_second_half: opened }) }
    },
  }),
  endpoint({
    method: 'POST',
    path: '/proposals/{id}/reject',
    summary: 'Says no to a proposal, or takes back one of one’s own',
    access: operatorOf('operator'),
    limit: null,
    params: ID,
    body: object({ reason: withDefault(text({ max: 256 }), '') }),
    status: 200,
    reply: proposalShape,
    refuses: ['NOT_FOUND', 'FORBIDDEN'],
    handle: async ({ desk, operator, path, body }) =>
      proposalView(await desk.core.submit('proposal.reject', { id: path.id, actor: operator, ...body })),
  }),
]
