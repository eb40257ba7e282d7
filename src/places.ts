/**
 * Where files are that no import names: threads, processes, the package's own. Told from this file, which the bundle keeps
 * in its first folder, so that a path is the same in both.
 */
export const besideUs = (path: string): URL => new URL(path, import.meta.url)
