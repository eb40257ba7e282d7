/** Puts a bug in place of a method or command, and takes it out again. */
export function plant<T extends object, K extends keyof T>(
  target: T,
  name: K,
  bug: (original: T[K]) => T[K],
): () => void {
  const original = target[name]
  target[name] = bug(original)
  return () => {
    target[name] = original
  }
}
