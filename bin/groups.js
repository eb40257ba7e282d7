// Which test files share a process. Most of what a small one costs is to start node, to read the platform and to run it
// while it is cold: the second file of a process pays none of that. Each is a suite of its own there, named by its path.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** So many files of a folder in one process, at most; of those that are not named here one. */
const TOGETHER = new Map([
  ['clients', 3],
  ['console', 7],
  ['contracts', 9],
  ['core', 9],
  ['coverage', 5],
  ['futures', 5],
  ['http', 6],
  ['sockets', 5],
  ['spot', 9],
  ['unified', 3],
])
/** These take longest and begin first, each in a process of its own: at the end nobody waits for one that is left. */
const FIRST = [
  'cluster/failover',
  'documents-odd',
  'documents-even',
  'cluster/store-failover',
  'cluster/store-cuts',
  'cli-drives',
  'backup',
  'cluster/standby',
  'futures/attacks',
  'futures/chaos',
  'futures/waiting-chaos',
].map((name) => `${name}.test.js`)

const folderOf = (file) => file.split(/[\\/]/).slice(0, -1).join('/')

/** Lists of files, in the order in which they are to be begun. */
export function groupsOf(files) {
  const groups = []
  const open = new Map()
  for (const file of files) {
    const most = FIRST.includes(file) ? 1 : (TOGETHER.get(folderOf(file)) ?? 1)
    const group = most === 1 ? undefined : open.get(folderOf(file))
    if (group !== undefined && group.length < most) group.push(file)
    else {
      groups.push([file])
      if (most > 1) open.set(folderOf(file), groups.at(-1))
    }
  }
  const rank = ([file]) => (FIRST.includes(file) ? FIRST.indexOf(file) : FIRST.length)
  return groups.sort((a, b) => rank(a) - rank(b))
}

/** Writes a program for each group; the runner begins them in the order of their names. */
export function writeGroups(groups, folder) {
  const target = join(folder, 'groups')
  mkdirSync(target, { recursive: true })
  return groups.map((files, i) => {
    const path = join(target, `${String(i).padStart(3, '0')}.test.js`)
    writeFileSync(
      path,
      programOf(
        files.map((file) => join(folder, file)),
        files,
      ),
    )
    return path
  })
}
function programOf(paths, names) {
  const suites = paths.map(
    (path, i) =>
      `describe(${JSON.stringify(names[i].replace(/\.test\.js$/, ''))}, () => import(${JSON.stringify(pathToFileURL(path).href)}))`,
  )
  return ["import { describe } from 'node:test'", ...suites, ''].join('\n')
}
