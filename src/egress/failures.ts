/** Why a request did not get an answer, in words for the person who owns the target. */

/** refused: our guard said no. definitive: the target must be repaired first. transient: worth another try. */
export type FailureClass = 'refused' | 'definitive' | 'transient'

/** What was being done when it ended. */
export type Phase = 'url' | 'queue' | 'dns' | 'connect' | 'tls' | 'headers' | 'body'

const CLASS_OF = {
  EGRESS_REFUSED_URL: 'refused',
  EGRESS_REFUSED_ADDRESS: 'refused',
  TLS_CERT_EXPIRED: 'definitive',
  TLS_CERT_NOT_YET_VALID: 'definitive',
  TLS_CERT_SELF_SIGNED: 'definitive',
  TLS_CERT_UNTRUSTED: 'definitive',
  TLS_CERT_WRONG_HOST: 'definitive',
  TLS_CERT_INVALID: 'definitive',
  TLS_HANDSHAKE: 'definitive',
  ENCODING: 'definitive',
  TOO_LARGE: 'definitive',
  INVALID_REQUEST: 'definitive',
  DNS: 'transient',
  CONNECT: 'transient',
  RESET: 'transient',
  PROTOCOL: 'transient',
  TIMEOUT: 'transient',
  ABORTED: 'transient'
} as const satisfies Record<string, FailureClass>

export type FailureCode = keyof typeof CLASS_OF

/** Milliseconds of each part; 0 for a part that was not needed (a pooled connection) or not reached. */
export interface Timings {
  /** Waiting for a free connection to the target. */
  queue: number
  dns: number
  connect: number
  tls: number
  /** From sending the request to the first byte of the answer. */
  firstByte: number
  total: number
}

export interface Failure {
  kind: 'failure'
  class: FailureClass
  code: FailureCode
  /** Names the host but never the path or query, which may hold secrets. */
  message: string
  phase: Phase
  timings: Timings
  /** Set when the answer had begun. */
  status?: number
  remoteAddress?: string
}

/** How the parts of this module, and streamed bodies, report a failure. */
export class EgressError extends Error {
  readonly code: FailureCode
  readonly class: FailureClass

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'EgressError'
    this.code = code
    this.class = CLASS_OF[code]
  }
}

const CERTIFICATE_PROBLEMS: Record<string, [FailureCode, string]> = {
  CERT_HAS_EXPIRED: ['TLS_CERT_EXPIRED', 'The certificate of HOST has expired; renew it'],
  CERT_NOT_YET_VALID: ['TLS_CERT_NOT_YET_VALID', 'The certificate of HOST is not valid yet; check its dates'],
  DEPTH_ZERO_SELF_SIGNED_CERT: [
    'TLS_CERT_SELF_SIGNED',
    'The certificate of HOST is self-signed; use one from a trusted authority'
  ],
  SELF_SIGNED_CERT_IN_CHAIN: [
    'TLS_CERT_UNTRUSTED',
    'The certificate of HOST comes from an authority that is not trusted'
  ],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
    'TLS_CERT_UNTRUSTED',
    'The certificate of HOST comes from an authority that is not trusted, or an intermediate certificate is missing'
  ],
  UNABLE_TO_GET_ISSUER_CERT: [
    'TLS_CERT_UNTRUSTED',
    'The certificate chain of HOST is incomplete; send the intermediate certificates too'
  ],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: [
    'TLS_CERT_UNTRUSTED',
    'The certificate of HOST comes from an authority that is not trusted, or an intermediate certificate is missing'
  ],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'TLS_CERT_WRONG_HOST',
    'The certificate presented is not for HOST; use one that names it'
  ]
}

const RESETS = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'])

const codeOf = (error: unknown) => String((error as NodeJS.ErrnoException | null)?.code ?? '')

export const isReset = (error: unknown) => RESETS.has(codeOf(error))

/** Puts what Node, OpenSSL or undici reported into our terms. */
export function classify(error: unknown, phase: Phase, host: string): EgressError {
  if (error instanceof EgressError) return error
  const code = codeOf(error)
  const fail = (ours: FailureCode, message: string) => new EgressError(ours, message, { cause: error })

  const certificate = CERTIFICATE_PROBLEMS[code]
  if (certificate)
    return fail(
      certificate[0],
      certificate[1].replace('HOST', () => host)
    )
  if (code === 'UND_ERR_INVALID_ARG') return fail('INVALID_REQUEST', `The request for ${host} could not be written`)
  if (isReset(error)) {
    const when = phase === 'tls' ? 'during the TLS handshake' : phase === 'body' ? 'in the middle of its answer' : ''
    return fail('RESET', `${host} closed the connection ${when || 'without an answer'}`)
  }
  // OpenSSL's verification codes are bare names; the system's errors carry the system call that failed.
  const system = (error as NodeJS.ErrnoException | null)?.syscall !== undefined || error instanceof AggregateError
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') {
    return fail('TLS_HANDSHAKE', `${host} and Herald could not agree on TLS (${code}); TLS 1.2 or newer is needed`)
  }
  if (phase === 'tls' && !system)
    return fail('TLS_CERT_INVALID', `The certificate of ${host} is not acceptable (${code})`)
  if (phase === 'connect' || phase === 'tls') return fail('CONNECT', `Could not connect to ${host} (${code})`)
  return fail('PROTOCOL', `${host} did not answer in correct HTTP/1.1 (${code || 'unknown problem'})`)
}

export const stopping = () => new EgressError('ABORTED', 'Herald is stopping')

const DOING: Record<Phase, string> = {
  url: 'reading the URL',
  queue: 'waiting for a free connection',
  dns: 'looking up the name',
  connect: 'connecting',
  tls: 'shaking hands over TLS',
  headers: 'waiting for the answer to begin',
  body: 'reading the answer'
}

export const timeout = (host: string, limitMs: number, phase: Phase) =>
  new EgressError('TIMEOUT', `${host} took longer than ${limitMs} ms (stopped while ${DOING[phase]})`)
