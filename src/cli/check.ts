/** What `doctor` says of one thing. */
export interface Check {
  readonly well: boolean
  readonly text: string
  /** What was wrong with them kept all else from being looked at. */
  readonly settings?: true
}
export const ok = (text: string): Check => ({ well: true, text })
export const wrong = (text: string): Check => ({ well: false, text })
