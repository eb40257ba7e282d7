const LONG = /:\d{15,},/
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"/g
const LONG_IN_STRING = /:(\d{15,}),/g

/**
 * JSON that means the same, in which no string has a colon, 15 or more digits and a comma in a row: ccxt puts quotes
 * around such digits before it parses a frame, wherever they stand, and within a string they end it. The comma is written
 * as an escape there.
 */
export const withoutLongDigits = (json: string): string =>
  LONG.test(json) ? json.replace(STRINGS, (text) => text.replace(LONG_IN_STRING, ':$1\\u002c')) : json
