/** How what goes wrong with connections is told. */
export type Warn = (message: string, fields?: Record<string, unknown>) => void
