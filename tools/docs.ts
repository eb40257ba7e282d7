import { writeFileSync } from 'node:fs'
import { flowsDocument } from './flows.ts'

/** Documents that are made from the sources. Each is checked in, and a test compares it. */
export const DOCUMENTS: readonly { readonly path: string; readonly make: () => string }[] = [
  { path: 'docs/FLOWS.md', make: flowsDocument },
]

if (process.argv[1]?.endsWith('docs.js') === true)
  for (const { path, make } of DOCUMENTS) writeFileSync(new URL(`../../${path}`, import.meta.url), make())
