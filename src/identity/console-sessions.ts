/** What a browser that signed in to the console may do. See decisions/0070. */
import type { Database, Db } from '../storage/db.ts'
import { ALLOW_LISTS } from './allow-lists.ts'
import { announce } from './changes.ts'
import { findConsoleSession } from './lookups.ts'
import type { Principal, PrincipalApp, PrincipalUser } from './principal.ts'
import { ALL_SCOPES } from './scopes.ts'
import { hashToken, randomText } from './secrets.ts'
import { SESSION_SECONDS } from './sign-in.ts'

/** Presented by a browser: the session's token, and the app that this request acts as, if any. */
export interface SessionCredentials {
  token: string
  appId?: string | undefined
  /** A route of the operator; a person who may open it comes as the operator. */
  forOperator: boolean
}

/** Who signed in. */
export interface ConsolePerson {
  user: PrincipalUser | null
  operator: boolean
}

/** The console as the client through which a person acts: no row and no keys, so there is nothing to steal. */
export const CONSOLE_APP: PrincipalApp = {
  id: '0',
  name: 'Herald Console',
  owner_user_id: null,
  project_id: null,
  client_id: '',
  permissions: 'read-write-directmessages',
  products: [],
  ads_access: 'read-write',
  quotas: {},
  allow_lists: []
}

const CONSOLE_SCOPES: ReadonlySet<string> = new Set(ALL_SCOPES)

export interface FoundSession extends ConsolePerson {
  expiresAt: number
  /** The app that was asked for, if this person may act as it. */
  app: PrincipalApp | null
}

/** undefined for a session that is over, whatever ended it. */
export async function lookForSession(
  database: Database,
  { token, appId }: { token: string; appId?: string | undefined },
  isConfiguredAdminToken: (hash: Buffer) => boolean
): Promise<FoundSession | undefined> {
  const row = await findConsoleSession(database, hashToken(token), appId ?? null)
  if (!row || row.user_suspended) return undefined
  const expiresAt = Date.parse(row.expires_at)
  const app = (operator: boolean) =>
    row.app && !row.app_suspended && (operator || row.app.owner_user_id === row.user?.id) ? row.app : null
  if (row.user) {
    const operator = row.user.allow_lists.includes(ALLOW_LISTS.operators)
    return { user: row.user, operator, expiresAt, app: app(operator) }
  }
  if (!row.admin_token_live && !isConfiguredAdminToken(row.admin_token_hash!)) return undefined
  const until = row.admin_token_expires_at ? Date.parse(row.admin_token_expires_at) : Infinity
  return { user: null, operator: true, expiresAt: Math.min(expiresAt, until), app: app(true) }
}

/** The principal of one request; undefined where this person has no business. */
export function principalOfSession(
  { user, operator, app }: FoundSession,
  { appId, forOperator }: Pick<SessionCredentials, 'appId' | 'forOperator'>
): Principal | undefined {
  if (forOperator && operator) return { kind: 'admin' }
  if (appId !== undefined) return app ? { kind: 'app', app } : undefined
  if (!user) return { kind: 'admin' }
  return { kind: 'user', via: 'oauth2', app: CONSOLE_APP, user, scopes: CONSOLE_SCOPES, oauth1_permissions: null }
}

/** The token, for a cookie. */
export async function createOperatorSession(db: Db, adminToken: string, now: Date) {
  const token = randomText(32)
  await db
    .insertInto('sessions')
    .values({
      token_hash: hashToken(token),
      user_id: null,
      admin_token_hash: hashToken(adminToken),
      purpose: 'console',
      created_at: now,
      expires_at: new Date(now.getTime() + SESSION_SECONDS * 1000)
    })
    .execute()
  return token
}

/** Ends this session, or all of the same person in all browsers. How many there were. */
export async function endConsoleSessions(db: Db, token: string, { everywhere = false } = {}): Promise<number> {
  const hash = hashToken(token)
  const own = await db
    .selectFrom('sessions')
    .select(['user_id', 'admin_token_hash'])
    .where('token_hash', '=', hash)
    .where('purpose', '=', 'console')
    .executeTakeFirst()
  if (!own) return 0
  let ended = db.deleteFrom('sessions')
  if (!everywhere) ended = ended.where('token_hash', '=', hash)
  else if (own.user_id !== null) ended = ended.where('user_id', '=', own.user_id)
  else ended = ended.where('admin_token_hash', '=', own.admin_token_hash!)
  const { numDeletedRows } = await ended.executeTakeFirst()
  await announce(db, { token: hash.toString('base64url') })
  return Number(numDeletedRows)
}
