import { BUGS } from './bugs.ts'
import { plan } from './plan.ts'
import { System } from './system.ts'

/** One history with one bug, in a process of its own: a platform that has broken down leaves things behind. Whatever is noticed is one line. */
const [name, steps] = process.argv.slice(2)
let step = 0
function noticed(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error)
  console.log(JSON.stringify({ step, message: message.split('\n')[0] }))
  process.exit(0)
}
process.on('unhandledRejection', noticed)
process.on('uncaughtException', noticed)
BUGS[name!]!()
try {
  await new System().run(plan(7, Number(steps)), (done) => (step = done + 1))
} catch (error) {
  noticed(error)
}
process.exit(1)
