// A reporter of node's test runner: after everything, what failed and why, once more (of a long output often only the end
// is kept), and how long each group of tests took, so that what grows is seen.
/** The folder below that of all tests, bundled or not. */
const FOLDER = /[\\/]dist[\\/]test(?:ed)?[\\/](?:([^\\/]+)[\\/])?/

export default async function* minutes(events) {
  const groups = new Map()
  const failed = []
  const began = performance.now()
  for await (const { type, data } of events) {
    // The first word of the runner's own summary: whoever is still there is ended after it.
    if (type === 'test:diagnostic' && data.nesting === 0 && /^tests \d+$/.test(data.message))
      yield summary(groups, performance.now() - began) + failures(failed)
    if (type === 'test:fail' && data.details.error.failureType !== 'subtestsFailed') failed.push(data)
    // Tests of a file alone: what is nested in them is part of their time.
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting !== 0 || data.file === undefined)
      continue
    const folder = FOLDER.exec(data.file)?.[1] ?? 'test'
    const group = groups.get(folder) ?? { files: new Set(), ms: 0 }
    group.files.add(data.file)
    group.ms += data.details.duration_ms
    groups.set(folder, group)
  }
}
function summary(groups, ms) {
  const lines = [...groups]
    .sort(([, a], [, b]) => b.ms - a.ms)
    .map(([folder, group]) => `# ${minutesOf(group.ms)} ${folder} (${group.files.size})`)
  return `# minutes of each group and its number of files; several run at once, ${minutesOf(ms).trim()} in all\n${lines.join('\n')}\n`
}
const minutesOf = (ms) => (ms / 60_000).toFixed(1).padStart(5)

function failures(failed) {
  return failed.map(({ name, file, details }) => `# failed: ${name}\n${told(file, details.error)}`).join('')
}
function told(file, { cause, message }) {
  const text = String(cause?.stack ?? cause ?? message)
  return [`${file}`, ...text.split('\n').slice(0, 30)].map((line) => `#   ${line}\n`).join('')
}
