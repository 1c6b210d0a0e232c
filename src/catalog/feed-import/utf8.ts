/** Where bytes stop being UTF-8, and what they might be instead. For error messages only. */

/** Offset of the first byte that is not part of valid UTF-8, or -1. */
export function firstInvalidUtf8(bytes: Buffer): number {
  const text = bytes.toString('utf8')
  let offset = 0
  let from = 0
  for (let at = text.indexOf('\uFFFD'); at >= 0; at = text.indexOf('\uFFFD', from)) {
    offset += Buffer.byteLength(text.slice(from, at))
    // A replacement character that stands in the file itself is valid.
    if (bytes[offset] !== 0xef || bytes[offset + 1] !== 0xbf || bytes[offset + 2] !== 0xbd) return offset
    offset += 3
    from = at + 1
  }
  return -1
}

export function invalidUtf8Message(byte: number | undefined, offset: number, where: string): string {
  const shown = byte === undefined ? 'its end' : `byte 0x${byte.toString(16).toUpperCase().padStart(2, '0')}`
  const guess =
    byte !== undefined && byte >= 0x80 ? ' It seems to be in Latin-1, Windows-1252 or another old encoding.' : ''
  return `The file is not UTF-8: ${shown} at offset ${offset} (${where}) is not valid.${guess} Save the file as UTF-8.`
}

export function nulMessage(offset: number, where: string): string {
  return `The file has a NUL byte at offset ${offset} (${where}): it is binary or in UTF-16. Save it as UTF-8 text.`
}
