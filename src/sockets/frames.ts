const TEXT = 0x81
const TWO_BYTES = 126
const EIGHT_BYTES = 127

/**
 * A text frame of a server, ready to be written as it is: whole, not masked, not compressed. It is made once, however
 * many sockets get it.
 */
export function textFrame(text: string | Uint8Array): Buffer {
  const length = typeof text === 'string' ? Buffer.byteLength(text) : text.length
  const head = length < TWO_BYTES ? 2 : length < 65_536 ? 4 : 10
  const frame = Buffer.allocUnsafe(head + length)
  frame[0] = TEXT
  if (head === 2) frame[1] = length
  else if (head === 4) {
    frame[1] = TWO_BYTES
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = EIGHT_BYTES
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
  if (typeof text === 'string') frame.write(text, head)
  else frame.set(text, head)
  return frame
}
