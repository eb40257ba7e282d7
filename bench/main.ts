/** `npm run bench -- NAME`: each bench is a module of this folder that exports `run`. */
const BENCHES = [
  'http',
  'core',
  'load',
  'tail',
  'failover',
  'futures',
  'gateways',
  'history',
  'match',
  'orders',
  'risk',
  'steady',
  'sockets',
  'worlds',
  'compare',
  'all',
  'soak',
] as const

const [name] = process.argv.slice(2)
if (name === undefined || !(BENCHES as readonly string[]).includes(name)) {
  console.error(`usage: npm run bench -- ${BENCHES.join(' | ')}`)
  process.exit(2)
}
const bench = (await import(new URL(`./${name}.js`, import.meta.url).href)) as {
  run: (args: readonly string[]) => Promise<void>
}
await bench.run(process.argv.slice(3))
