/** A sheet for a spreadsheet program; a cell that would be read as a formula is made a text. */
export function csv(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cell = (value: string): string => {
    const safe = /^[=+\-@\t\r]/.test(value) && !/^[+-]?\d*\.?\d+$/.test(value) ? `'${value}` : value
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
  }
  return [head, ...rows].map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n'
}
