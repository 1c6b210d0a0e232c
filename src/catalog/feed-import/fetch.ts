/** Gets a feed file from its host, through the guard, as a stream of bytes. */
import type { Egress, FailureClass } from '../../egress/index.ts'
import type { RunError } from './report.ts'
import { fileTooLarge, UNPACK_LIMITS } from './unpack.ts'

export interface FeedSource {
  url: string
  /** What the host said about the file that was imported last. */
  etag: string | null
  lastModified: string | null
}

export interface FetchedFile {
  kind: 'file'
  body: AsyncIterable<Buffer>
  bytesTotal: number | null
  etag: string | null
  lastModified: string | null
}

export type Fetched = FetchedFile | { kind: 'not modified' } | { kind: 'failed'; error: RunError; transient: boolean }

const IDLE_MS = 60_000
const VALIDATOR_CHARS_MAX = 1_000

const failed = (code: string, message: string, transient = false): Fetched => ({
  kind: 'failed',
  error: { code, message },
  transient
})

/** How a broken connection is reported, before or in the middle of the file. */
export function fetchError({ code, message }: { code: string; message: string }): RunError {
  if (code === 'TOO_LARGE') {
    const { code: tooLarge, message: rule } = fileTooLarge(UNPACK_LIMITS.bytesMax)
    return { code: tooLarge, message: rule }
  }
  return { code: code.startsWith('EGRESS_') ? 'ADDRESS_REFUSED' : `FETCH_${code}`, message: `${message}.` }
}

export const isTransient = (failure: { class: FailureClass }) => failure.class === 'transient'

export async function fetchFeed(egress: Egress, source: FeedSource, deadlineMs: number): Promise<Fetched> {
  const outcome = await egress.stream({
    url: source.url,
    method: 'GET',
    schemes: ['http', 'https'],
    headers: {
      accept: 'text/csv, text/tab-separated-values, application/xml, text/xml, application/gzip, */*;q=0.5',
      // Unpacking is ours: the bytes tell, and the bounds are those of feeds.
      'accept-encoding': 'gzip',
      'user-agent': 'Herald feed import',
      ...(source.etag === null ? {} : { 'if-none-match': source.etag }),
      ...(source.lastModified === null ? {} : { 'if-modified-since': source.lastModified })
    },
    idleMs: IDLE_MS,
    deadlineMs,
    bytesMax: UNPACK_LIMITS.bytesMax,
    decompress: false,
    decompressedBytesMax: UNPACK_LIMITS.bytesMax
  })
  if (outcome.kind === 'failure') return { kind: 'failed', error: fetchError(outcome), transient: isTransient(outcome) }

  const { status, headers, body } = outcome
  if (status === 200) {
    const encoding = String(headers['content-encoding'] ?? 'identity')
    if (/^\s*(?:identity|(?:x-)?gzip)\s*$/i.test(encoding)) {
      const length = Number(headers['content-length'])
      return {
        kind: 'file',
        body,
        bytesTotal: Number.isSafeInteger(length) && length > 0 ? length : null,
        etag: validator(headers.etag),
        lastModified: validator(headers['last-modified'])
      }
    }
    body.destroy()
    return failed('CONTENT_ENCODING', `The host sent the file in ${encoding.slice(0, 40)}. Send it plain or with gzip.`)
  }
  body.destroy()
  const isConditional = source.etag !== null || source.lastModified !== null
  if (status === 304 && isConditional) return { kind: 'not modified' }
  if (status >= 300 && status < 400 && status !== 304) {
    return failed(
      'REDIRECT',
      `The feed address answers ${status}: it redirects, which is not followed. Enter the final address of the file.`
    )
  }
  const advice =
    status === 401 || status === 403
      ? 'Let the file be read without signing in; an address with a secret part is safe if it is long and random.'
      : status === 404 || status === 410
        ? 'Check the feed address.'
        : 'Check the host of the feed.'
  const transient = status >= 500 || status === 408 || status === 429
  return failed('HTTP_STATUS', `The feed address answers ${status} instead of 200. ${advice}`, transient)
}

function validator(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && header.length <= VALIDATOR_CHARS_MAX && !/[\r\n\0]/.test(header) ? header : null
}
