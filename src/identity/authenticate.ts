/** From an Authorization header to a principal. Cheap when the token was seen a moment ago: a hash and a map. */
import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Database } from '../storage/db.ts'
import type { Listener } from '../storage/listen.ts'
import { openConsumerSecrets, validSecrets } from './apps.ts'
import { IDENTITY_CHANNEL } from './changes.ts'
import {
  type ConsolePerson,
  type FoundSession,
  lookForSession,
  principalOfSession,
  type SessionCredentials
} from './console-sessions.ts'
import type { AuthenticationFailure } from './failures.ts'
import { findAdminToken, findAppToken, findConsumer, findOAuth2Token } from './lookups.ts'
import { parseOAuthHeader } from './oauth1.ts'
import { openAccessSecret } from './oauth1-tokens.ts'
import type { Principal } from './principal.ts'
import { lowerLevel } from './scopes.ts'
import { hashToken, TOKEN_PREFIXES, tokenKey, type Vault } from './secrets.ts'
import { createSignatureChecks, type SignedRequest } from './signed-requests.ts'

export interface Credentials extends SignedRequest {
  authorization: string | undefined
  remoteAddress?: string
  /** A browser of the console; believed only beside no Authorization header. */
  session?: SessionCredentials | undefined
}

export interface Authenticator {
  authenticate(request: Credentials): Promise<Principal | { failure: AuthenticationFailure }>
  /** Who has signed in to the console with this session. */
  person(sessionToken: string): Promise<ConsolePerson | undefined>
  /** Drops everything remembered, at once; other nodes hear of changes through the database. */
  forget(): void
  close(): void
}

export interface AuthenticatorOptions {
  database: Database
  vault: Vault
  clock: Clock
  /** The configured admin token; others are rows. */
  adminToken?: string | undefined
  publicUrl?: string | undefined
  listener?: Pick<Listener, 'on' | 'onReconnect'>
  /** How long a lookup is believed if no change is announced. */
  cacheMs?: number
  cacheEntriesMax?: number
  /** Milliseconds that only go forward; not the clock of the rules. */
  ticks?: () => number
}

/** What a lookup found: who it is, or why not; and until when, by the clock of the rules. */
interface Found {
  principal?: Principal
  failure?: AuthenticationFailure
  expiresAt?: number
  session?: FoundSession
  secrets?: ReturnType<typeof openConsumerSecrets>
  tokenSecret?: string
}

const BEARER = /^Bearer +([A-Za-z0-9\-._~+/%]+=*) *$/i

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { database, vault, clock } = options
  const adminTokenHash = options.adminToken ? hashToken(options.adminToken) : undefined
  const cacheMs = options.cacheMs ?? 5_000
  const cacheEntriesMax = options.cacheEntriesMax ?? 20_000
  const ticks = options.ticks ?? (() => performance.now())
  const checks = createSignatureChecks(options)
  const cache = new Map<string, { found: Promise<Found | undefined>; until: number }>()
  // A lookup that began before a change was announced must not be remembered after it.
  let generation = 0

  /** Hashing a token costs more than all else here; those of a moment ago are kept as long as what they stand for. */
  const keys = new Map<string, string>()
  const keyOf = (token: string) => {
    let key = keys.get(token)
    if (key === undefined) {
      if (keys.size >= cacheEntriesMax) keys.clear()
      key = tokenKey(token)
      keys.set(token, key)
    }
    return key
  }
  const forget = () => {
    generation++
    cache.clear()
    keys.clear()
  }
  const stops = options.listener
    ? [options.listener.on(IDENTITY_CHANNEL, forget), options.listener.onReconnect(forget)]
    : []

  function remembered(key: string, look: () => Promise<Found | undefined>) {
    const now = ticks()
    const known = cache.get(key)
    if (known && known.until > now) return known.found
    const began = generation
    const found = look()
    if (cache.size >= cacheEntriesMax) cache.delete(cache.keys().next().value!)
    cache.delete(key)
    cache.set(key, { found, until: now + cacheMs })
    const drop = () => {
      if (cache.get(key)?.found === found) cache.delete(key)
    }
    // Unknown tokens are not remembered: they would push out known ones.
    found.then((value) => (value === undefined || began !== generation) && drop(), drop)
    return found
  }

  async function bearer(token: string): Promise<Principal | { failure: AuthenticationFailure }> {
    const key = keyOf(token)
    if (adminTokenHash && token.length === options.adminToken!.length) {
      if (timingSafeEqual(Buffer.from(key, 'base64url'), adminTokenHash)) return { kind: 'admin' }
    }
    const look = lookFor(token)
    const found = look && (await remembered(key, () => look(Buffer.from(key, 'base64url'))))
    if (!found) return { failure: 'unknown-token' }
    if (found.failure) return { failure: found.failure }
    if (found.expiresAt !== undefined && found.expiresAt <= clock.now()) return { failure: 'expired' }
    return found.principal!
  }

  function lookFor(token: string): ((hash: Buffer) => Promise<Found | undefined>) | undefined {
    if (token.startsWith(TOKEN_PREFIXES.app)) return lookForApp
    if (token.startsWith(TOKEN_PREFIXES.oauth2Access)) return lookForOAuth2
    if (token.startsWith(TOKEN_PREFIXES.admin)) return lookForAdmin
    return undefined
  }

  async function lookForApp(hash: Buffer): Promise<Found | undefined> {
    const row = await findAppToken(database, hash)
    if (!row) return undefined
    if (row.revoked_at) return { failure: 'revoked' }
    return row.app_suspended ? { failure: 'suspended' } : { principal: { kind: 'app', app: row.app } }
  }

  async function lookForOAuth2(hash: Buffer): Promise<Found | undefined> {
    const row = await findOAuth2Token(database, hash)
    if (!row) return undefined
    if (row.revoked_at) return { failure: 'revoked' }
    if (row.app_suspended || row.user_suspended) return { failure: 'suspended' }
    return {
      principal: {
        kind: 'user',
        via: 'oauth2',
        app: row.app,
        user: row.user,
        scopes: new Set(row.scopes),
        oauth1_permissions: row.oauth1_permissions && lowerLevel(row.oauth1_permissions, row.app.permissions)
      },
      ...(row.expires_at ? { expiresAt: Date.parse(row.expires_at) } : {})
    }
  }

  async function lookForAdmin(hash: Buffer): Promise<Found | undefined> {
    const row = await findAdminToken(database, hash)
    if (!row) return undefined
    if (row.revoked_at) return { failure: 'revoked' }
    return { principal: { kind: 'admin' }, ...(row.expires_at ? { expiresAt: Date.parse(row.expires_at) } : {}) }
  }

  async function lookForSigner(consumerKey: string, token: string): Promise<Found | undefined> {
    const row = await findConsumer(database, consumerKey, hashToken(token))
    if (!row) return undefined
    if (!row.token) return { failure: 'unknown-token' }
    if (row.token.revoked_at) return { failure: 'revoked' }
    if (row.app_suspended || row.token.user_suspended) return { failure: 'suspended' }
    return {
      principal: {
        kind: 'user',
        via: 'oauth1',
        app: row.app,
        user: row.token.user,
        // A token keeps the level it was granted with; an app that was lowered since takes it along.
        permissions: lowerLevel(row.token.permissions, row.app.permissions)
      },
      secrets: openConsumerSecrets(vault, row.secrets),
      tokenSecret: openAccessSecret(vault, row.token)
    }
  }

  async function signed(request: Credentials): Promise<Principal | { failure: AuthenticationFailure }> {
    const credentials = parseOAuthHeader(request.authorization!)
    if (!credentials?.token) return { failure: 'malformed' }
    if (!checks.isTimely(credentials)) return { failure: 'stale-timestamp' }
    const { consumerKey, token } = credentials
    const found = await remembered(`${tokenKey(token)} ${consumerKey}`, () => lookForSigner(consumerKey, token))
    if (!found) return { failure: 'unknown-consumer' }
    if (found.failure) return { failure: found.failure }
    const secrets = validSecrets(found.secrets!, clock.now())
    const failure = await checks.check(request, credentials, secrets, found.tokenSecret!)
    return failure ? { failure } : found.principal!
  }

  async function sessionOf(token: string, appId?: string): Promise<FoundSession | undefined> {
    const isConfigured = (hash: Buffer) => adminTokenHash !== undefined && timingSafeEqual(hash, adminTokenHash)
    const found = await remembered(`session ${tokenKey(token)} ${appId ?? ''}`, async () => {
      const session = await lookForSession(database, { token, appId }, isConfigured)
      return session && { session }
    })
    return found?.session && found.session.expiresAt > clock.now() ? found.session : undefined
  }

  return {
    async authenticate(request) {
      const { authorization, session } = request
      if (!authorization) {
        const found = session && (await sessionOf(session.token, session.appId))
        if (!found) return { failure: 'no-credentials' }
        return principalOfSession(found, session) ?? { failure: 'unknown-token' }
      }
      const token = BEARER.exec(authorization)?.[1]
      if (token !== undefined) return bearer(token)
      return /^OAuth\s/i.test(authorization) ? signed(request) : { failure: 'malformed' }
    },
    async person(sessionToken) {
      const found = await sessionOf(sessionToken)
      return found && { user: found.user, operator: found.operator }
    },
    forget,
    close() {
      for (const stop of stops) stop()
    }
  }
}
