/** The bytes of a feed, unpacked if need be and known to be of its format, in bounded memory. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { checkFormat, type FeedFormat, HEAD_BYTES, isGzip } from './detect.ts'
import { FeedError } from './rows.ts'

export interface UnpackLimits {
  /** "File up to 8 GB": as published and unpacked. */
  bytesMax: number
  /** No feed shrinks to less than this; what does is made to exhaust the reader. */
  ratioMax: number
  /** The ratio is looked at only once so much has been unpacked. */
  ratioFromBytes: number
}

export const UNPACK_LIMITS: UnpackLimits = { bytesMax: 8 * 1024 ** 3, ratioMax: 250, ratioFromBytes: 64 * 1024 ** 2 }

/** Yields the text of the feed; throws a FeedError when it is no text of that format or larger than a feed may be. */
export async function* unpackFeed(
  source: AsyncIterable<Buffer>,
  format: FeedFormat,
  limits = UNPACK_LIMITS
): AsyncGenerator<Buffer> {
  const counted = { bytes: 0 }
  const published = withHead(countBytes(source, counted, limits.bytesMax))
  try {
    const first = await published.next()
    const isPacked = !first.done && isGzip(first.value)
    const chunks = first.done ? published : prepend(first.value, published)
    let isChecked = false
    for await (const chunk of isPacked ? withHead(gunzip(chunks, counted, limits)) : chunks) {
      if (!isChecked) checkFormat(chunk, format)
      isChecked = true
      yield chunk
    }
  } finally {
    // The source is closed also when the reader stops at the very first chunk.
    await published.return(undefined)
  }
}

async function* prepend(first: Buffer, rest: AsyncIterable<Buffer>) {
  yield first
  yield* rest
}

async function* countBytes(source: AsyncIterable<Buffer>, counted: { bytes: number }, bytesMax: number) {
  for await (const chunk of source) {
    counted.bytes += chunk.length
    if (counted.bytes > bytesMax) throw fileTooLarge(bytesMax)
    yield chunk
  }
}

/** Gathers the first chunks until they tell what the file is. */
async function* withHead(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  let head: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of source) {
    if (head === undefined) yield chunk
    else {
      head = Buffer.concat([head, chunk])
      if (head.length < HEAD_BYTES) continue
      yield head
      head = undefined
    }
  }
  if (head?.length) yield head
}

async function* gunzip(source: AsyncIterable<Buffer>, packed: { bytes: number }, limits: UnpackLimits) {
  const unpacker = createGunzip({ chunkSize: 64 * 1024 })
  // A failure of either side surfaces where the unpacker is read.
  const flow = pipeline(Readable.from(source, { objectMode: false }), unpacker).catch(() => {})
  let bytes = 0
  try {
    for await (const chunk of unpacker as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > limits.bytesMax) throw fileTooLarge(limits.bytesMax)
      if (bytes > limits.ratioFromBytes && bytes > packed.bytes * limits.ratioMax) {
        const message = `The file unpacks to more than ${limits.ratioMax} times its size, as no product feed does. Publish it unpacked.`
        throw new FeedError('GZIP_BOMB', message)
      }
      yield chunk
    }
  } catch (error) {
    throw isGzipFailure(error)
      ? new FeedError(
          'BROKEN_GZIP',
          `The file is damaged or breaks off: ${error.message} after ${bytes} unpacked bytes. Publish it again.`,
          { byte: bytes }
        )
      : error
  } finally {
    unpacker.destroy()
    await flow
  }
}

const isGzipFailure = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')

export const fileTooLarge = (bytesMax: number) =>
  new FeedError('FILE_TOO_LARGE', `The file is larger than ${bytesMax} bytes. Split it or leave products out.`)
