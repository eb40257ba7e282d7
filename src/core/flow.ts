/**
 * A flow is a table: from each status, what each event leads to. What is not in the table can't happen.
 * docs/FLOWS.md is drawn from these tables.
 */
export type Flow<S extends string, E extends string> = Readonly<Record<S, Readonly<Partial<Record<E, S>>>>>

/** The status after an event, or undefined where the table has none. */
export const next = <S extends string, E extends string>(
  flow: Flow<S, E>,
  status: S,
  event: E,
): S | undefined => flow[status][event]
