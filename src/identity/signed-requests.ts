/** Checks of a signed request that need more than the request: the clock, the address, and nonces seen before. */
import type { Clock } from '../clock.ts'
import type { Database } from '../storage/db.ts'
import type { AuthenticationFailure } from './failures.ts'
import {
  isTimely,
  type OAuthCredentials,
  type SignableRequest,
  TIMESTAMP_WINDOW_SECONDS,
  verifySignature
} from './oauth1.ts'
import { hashToken } from './secrets.ts'

declare module '../storage/db.ts' {
  interface Tables {
    oauth1_nonces: { nonce_hash: Buffer; expires_at: Time }
  }
}

export interface SignedRequest extends SignableRequest {
  /** The address clients use for this listener, if it is configured; replaces scheme and host. */
  publicUrl?: string | undefined
  /**
   * Told when this very request has used up its nonce, with the way to give it back. Only who used it may do that:
   * otherwise a replay that runs into a 429 would free the nonce of the request it repeats. See decisions/0017.
   */
  onNonceUsed?: ((release: () => Promise<void>) => void) | undefined
}

export interface SignatureChecks {
  /** Before anything is looked up. */
  isTimely(credentials: OAuthCredentials): boolean
  /** Remembers the nonce, so the same request is good once. */
  check(
    request: SignedRequest,
    credentials: OAuthCredentials,
    consumerSecrets: readonly string[],
    tokenSecret: string
  ): Promise<AuthenticationFailure | undefined>
}

/** RFC 5849, 3.3: unique for all requests with the same timestamp, client and token. */
const nonceHash = ({ consumerKey, token, timestamp, nonce }: OAuthCredentials) =>
  hashToken(JSON.stringify([consumerKey, token ?? null, timestamp, nonce])).subarray(0, 16)

export function createSignatureChecks(options: {
  database: Database
  clock: Clock
  publicUrl?: string | undefined
}): SignatureChecks {
  const { pool } = options.database

  return {
    isTimely: (credentials) => isTimely(credentials.timestamp, options.clock.now()),

    async check(request, credentials, consumerSecrets, tokenSecret) {
      const seen = asSeenByClient(request, request.publicUrl || options.publicUrl)
      if (!verifySignature(seen, credentials, consumerSecrets, tokenSecret)) return 'bad-signature'
      // After the signature, so that nobody can use up nonces of others.
      const { rowCount } = await pool.query({
        name: 'identity.use_nonce',
        text: 'insert into oauth1_nonces (nonce_hash, expires_at) values ($1, $2) on conflict do nothing',
        values: [nonceHash(credentials), new Date((credentials.timestamp + TIMESTAMP_WINDOW_SECONDS + 1) * 1000)]
      })
      if (rowCount !== 1) return 'nonce-used'
      request.onNonceUsed?.(() => release(credentials))
      return undefined
    }
  }

  async function release(credentials: OAuthCredentials) {
    await pool.query({
      name: 'identity.release_nonce',
      text: 'delete from oauth1_nonces where nonce_hash = $1',
      values: [nonceHash(credentials)]
    })
  }
}

function asSeenByClient(request: SignedRequest, publicUrl: string | undefined): SignableRequest {
  if (!publicUrl) return request
  const { protocol, host, pathname } = new URL(publicUrl)
  return {
    ...request,
    scheme: protocol.slice(0, -1),
    host,
    rawUrl: (pathname.endsWith('/') ? pathname.slice(0, -1) : pathname) + request.rawUrl
  }
}
