import type { AnyEndpoint } from '../api/endpoint.ts'

export const landingPage = (version: string): string =>
  `<!doctype html><title>Kontor</title><h1>Kontor ${version}</h1><p><a href="/docs">Reference</a></p>`
export const referencePage = (
  trading: readonly AnyEndpoint[],
  operator: readonly AnyEndpoint[],
  version: string,
): string =>
  `<!doctype html><title>Kontor ${version}</title>${[...trading, ...operator].map((e) => `<p>${e.method} ${e.path}</p>`).join('')}`
