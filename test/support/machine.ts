const CORES = new URL('./cores.js', import.meta.url).href

/** The environment of a process that takes this machine for one of so many cores. */
export const asWith = (cores: number): Record<string, string> => ({
  NODE_OPTIONS: `--import=${CORES}?${cores}`,
})
