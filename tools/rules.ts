import { writeFileSync } from 'node:fs'
import { RULES } from '../src/core/commands.ts'
import { changesOf, makeHistory, type Recorded } from '../test/core/rules-history.ts'

/** `npm run rules`: records commands and what they change by the rules that there are, for test/core/rules.test.ts. */
const FILE = new URL('../../test/core/rules.json', import.meta.url)

const isHash = (text: string): boolean => /^[0-9a-f]{12}$/.test(text)
let history: readonly Recorded[] = makeHistory()
let changes = changesOf(history)
for (let round = 0; changes.some((one) => !isHash(one)); round++) {
  if (round > 3) throw new Error(changes.find((one) => !isHash(one)))
  history = history.filter((_, i) => isHash(changes[i]!))
  changes = changesOf(history)
}
const lines = history.map((one, i) => JSON.stringify([...one, changes[i]]))
writeFileSync(FILE, `{"rules":${RULES},"history":[\n${lines.join(',\n')}\n]}\n`)
console.log(
  `${history.length} commands of ${new Set(history.map(([, type]) => type)).size} kinds, by rules ${RULES}`,
)
