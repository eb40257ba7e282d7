/** A decimal that is written as a JSON number, digit by digit: as a double it would lose some. */
class Digits {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
/** Of a decimal in REST's text. */
export const numberOf = (text: string): Digits => new Digits(text)
export type Member = string | number | boolean | Digits | object
export type NumberRecord = Readonly<Record<string, Member>>

/** JSON of a record, members in their order. */
export const recordText = (record: NumberRecord): string =>
  `{${Object.entries(record)
    .map(([name, value]) => `"${name}":${value instanceof Digits ? value.text : JSON.stringify(value)}`)
    .join(',')}}`
