// A reporter of node's test runner: after everything, what failed and why, once more (of a long output often only the end
// is kept), and how long each group of tests took, so that what grows is seen.
/** A file of tests: of several in a process each is a suite that has its name (bin/groups.js). */
const GROUP = /[\\/]dist[\\/]tested[\\/]groups[\\/]/
const FILE = /[\\/]dist[\\/]test[\\/](.*)\.test\.js$/
const fileOf = ({ name, file }) => (GROUP.test(file) ? name : FILE.exec(file)?.[1])
/** So many of the longest are told. */
const LONGEST = 12

export default async function* minutes(events) {
  const files = new Map()
  const failed = []
  const began = performance.now()
  for await (const { type, data } of events) {
    // The first word of the runner's own summary: whoever is still there is ended after it.
    if (type === 'test:diagnostic' && data.nesting === 0 && /^tests \d+$/.test(data.message))
      yield summary(files, performance.now() - began) + failures(failed)
    if (type === 'test:fail' && data.details.error.failureType !== 'subtestsFailed') failed.push(data)
    // Tests of a file alone: what is nested in them is part of their time.
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting !== 0 || data.file === undefined)
      continue
    const file = fileOf(data)
    if (file !== undefined) files.set(file, (files.get(file) ?? 0) + data.details.duration_ms)
  }
}
function summary(files, ms) {
  const groups = new Map()
  for (const [file, took] of files) {
    const folder = file.includes('/') ? file.split('/')[0] : 'test'
    const group = groups.get(folder) ?? { name: folder, files: 0, ms: 0 }
    group.files++
    group.ms += took
    groups.set(folder, group)
  }
  const lines = byTime([...groups.values()]).map(
    ({ name, files, ms }) => `# ${minutesOf(ms)} ${name} (${files})`,
  )
  const longest = byTime([...files].map(([name, ms]) => ({ name, ms })))
    .slice(0, LONGEST)
    .map(({ name, ms }) => `# ${minutesOf(ms)} ${name}`)
  return [
    `# minutes of each group and its number of files; several run at once, ${minutesOf(ms).trim()} in all`,
    ...lines,
    '# and of the longest files',
    ...longest,
    '',
  ].join('\n')
}
const byTime = (list) => list.sort((a, b) => b.ms - a.ms)
const minutesOf = (ms) => (ms / 60_000).toFixed(1).padStart(5)

function failures(failed) {
  return failed.map(({ name, file, details }) => `# failed: ${name}\n${told(file, details.error)}`).join('')
}
function told(file, { cause, message }) {
  const text = String(cause?.stack ?? cause ?? message)
  return [`${file}`, ...text.split('\n').slice(0, 30)].map((line) => `#   ${line}\n`).join('')
}
