/** What an image is, from the first bytes of it: JPG, GIF, WEBP or PNG, and its size in pixels. */
export interface ImageInfo {
  type: 'jpg' | 'gif' | 'webp' | 'png'
  width: number
  height: number
}

export type ImageVerdict = ImageInfo | 'need more bytes' | 'not an image'

export const IMAGE_PIXELS_MIN = 500
export const IMAGE_BYTES_MAX = 5 * 1024 * 1024

const ascii = (bytes: Buffer, at: number, length: number) => bytes.toString('latin1', at, at + length)

/** Reads no more than the header needs; asks for more bytes while the beginning fits but does not yet tell the size. */
export function imageInfo(bytes: Buffer): ImageVerdict {
  if (bytes.length === 0) return 'need more bytes'
  for (const { magic, read } of FORMATS) {
    const start = bytes.subarray(0, magic.length)
    if (start.equals(magic.subarray(0, start.length))) {
      const info = start.length < magic.length ? 'need more bytes' : read(bytes)
      return typeof info === 'string' || (info.width > 0 && info.height > 0) ? info : 'not an image'
    }
  }
  return 'not an image'
}

const FORMATS: readonly { magic: Buffer; read: (bytes: Buffer) => ImageVerdict }[] = [
  { magic: Buffer.of(0xff, 0xd8, 0xff), read: readJpeg },
  { magic: Buffer.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a), read: readPng },
  { magic: Buffer.from('GIF8'), read: readGif },
  { magic: Buffer.from('RIFF'), read: readWebp }
]

function readPng(bytes: Buffer): ImageVerdict {
  if (bytes.length < 24) return 'need more bytes'
  if (ascii(bytes, 12, 4) !== 'IHDR') return 'not an image'
  return { type: 'png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

function readGif(bytes: Buffer): ImageVerdict {
  if (bytes.length < 10) return 'need more bytes'
  if (!['GIF87a', 'GIF89a'].includes(ascii(bytes, 0, 6))) return 'not an image'
  return { type: 'gif', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
}

/** Start-of-frame markers; C4, C8 and CC in that range are tables and extensions. */
const isStartOfFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

/** Walks the segments (metadata, thumbnails, tables) up to the frame header. */
function readJpeg(bytes: Buffer): ImageVerdict {
  for (let at = 2; ; ) {
    if (at + 2 > bytes.length) return 'need more bytes'
    if (bytes[at] !== 0xff) return 'not an image'
    const marker = bytes[at + 1]!
    // Fill bytes may stand before a marker, and some markers have no segment.
    if (marker === 0xff) at += 1
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) at += 2
    else if (marker === 0x00 || marker === 0xd8 || marker === 0xd9 || marker === 0xda) return 'not an image'
    else {
      if (at + 4 > bytes.length) return 'need more bytes'
      const length = bytes.readUInt16BE(at + 2)
      if (length < 2) return 'not an image'
      if (isStartOfFrame(marker)) {
        if (at + 9 > bytes.length) return 'need more bytes'
        return { type: 'jpg', height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
      }
      at += 2 + length
    }
  }
}

function readWebp(bytes: Buffer): ImageVerdict {
  if (bytes.length < 16)
    return ascii(bytes, 8, 4) === 'WEBP'.slice(0, Math.max(0, bytes.length - 8)) ? 'need more bytes' : 'not an image'
  if (ascii(bytes, 8, 4) !== 'WEBP') return 'not an image'
  const chunk = ascii(bytes, 12, 4)
  if (!['VP8 ', 'VP8L', 'VP8X'].includes(chunk)) return 'not an image'
  if (bytes.length < 30) return 'need more bytes'
  if (chunk === 'VP8X') return { type: 'webp', width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) }
  if (chunk === 'VP8L') {
    if (bytes[20] !== 0x2f) return 'not an image'
    const bits = bytes.readUInt32LE(21)
    return { type: 'webp', width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) }
  }
  // A lossy key frame: three bytes of frame tag, a start code, then fourteen bits each.
  if (bytes.readUIntBE(23, 3) !== 0x9d012a) return 'not an image'
  return { type: 'webp', width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
}
