/** Signing in with a password, with limits on guessing, and the browser sessions that follow. */
import { sql } from 'kysely'
import type { Db } from '../storage/db.ts'
import { PASSWORD_LENGTH_MAX, passwordMatches } from './passwords.ts'
import { hashToken, randomText, tokenKey } from './secrets.ts'
import type { User } from './users.ts'

declare module '../storage/db.ts' {
  interface Tables {
    sign_in_attempts: { key: string; attempts: number; window_ends_at: Time }
    sessions: {
      token_hash: Buffer
      user_id: string | null
      admin_token_hash: Buffer | null
      purpose: SessionPurpose
      created_at: Time
      expires_at: Time
    }
  }
}

export type SessionPurpose = 'authorize' | 'console'

export const ATTEMPT_WINDOW_SECONDS = 15 * 60
/** Attempts per window before the next is refused unheard. Not specified; see decisions/0018. */
export const ATTEMPT_LIMITS = { userAndAddress: 5, user: 50, address: 100 } as const
export const SESSION_SECONDS = 12 * 3600

export type SignIn = { outcome: 'signed-in'; user: User } | { outcome: 'refused' } | { outcome: 'too-many-attempts' }

/** Keys are hashed: people type passwords into the wrong field. */
function attemptKeys(username: string, address: string): [key: string, limit: number][] {
  const name = username.toLowerCase()
  return [
    [`both:${tokenKey(JSON.stringify([name, address]))}`, ATTEMPT_LIMITS.userAndAddress],
    [`user:${tokenKey(name)}`, ATTEMPT_LIMITS.user],
    [`address:${tokenKey(address)}`, ATTEMPT_LIMITS.address]
  ]
}

/** Counts the attempt before looking at the password, so that many at once cannot slip through together. */
export async function verifyPassword(
  db: Db,
  { username, password, address }: { username: string; password: string; address: string },
  now: Date
): Promise<SignIn> {
  const keys = attemptKeys(username, address)
  for (const [key, limit] of keys) {
    if ((await countAttempt(db, key, now)) > limit) return { outcome: 'too-many-attempts' }
  }
  const user = await db
    .selectFrom('users')
    .selectAll()
    .where((eb) => eb(eb.fn<string>('lower', ['username']), '=', username.toLowerCase()))
    .executeTakeFirst()
  const matches = await passwordMatches(password.slice(0, PASSWORD_LENGTH_MAX + 1), user?.password_hash)
  if (!user || !matches || user.suspended) return { outcome: 'refused' }
  // A good password clears what this person typed wrong from here; of what others try it takes back only itself.
  await db.deleteFrom('sign_in_attempts').where('key', '=', keys[0]![0]).execute()
  await db
    .updateTable('sign_in_attempts')
    .set((eb) => ({ attempts: eb('attempts', '-', 1) }))
    .where('key', 'in', [keys[1]![0], keys[2]![0]])
    .execute()
  const { password_hash: _, ...known } = user
  return { outcome: 'signed-in', user: known }
}

/** Attempts at an admin token per address and window; it is long and random, so this only stops the noise. */
export const ADMIN_ATTEMPTS_MAX = 10

/** Whether one more guess at an admin token may be heard; a good one takes back what it counted. */
export async function admitAdminAttempt(db: Db, address: string, now: Date) {
  const key = `admin:${tokenKey(address)}`
  const admitted = (await countAttempt(db, key, now)) <= ADMIN_ATTEMPTS_MAX
  return {
    admitted,
    succeeded: async () => {
      await db.deleteFrom('sign_in_attempts').where('key', '=', key).execute()
    }
  }
}

async function countAttempt(db: Db, key: string, now: Date) {
  const { rows } = await sql<{ attempts: number }>`
    insert into sign_in_attempts as mine (key, attempts, window_ends_at)
    values (${key}, 1, ${new Date(now.getTime() + ATTEMPT_WINDOW_SECONDS * 1000)})
    on conflict (key) do update set
      attempts = case when mine.window_ends_at <= ${now} then 1 else mine.attempts + 1 end,
      window_ends_at = case when mine.window_ends_at <= ${now} then excluded.window_ends_at else mine.window_ends_at end
    returning attempts`.execute(db)
  return rows[0]!.attempts
}

/** The session token, for a cookie. */
export async function createSession(db: Db, userId: string, purpose: SessionPurpose, now: Date) {
  const token = randomText(32)
  await db
    .insertInto('sessions')
    .values({
      token_hash: hashToken(token),
      user_id: userId,
      purpose,
      created_at: now,
      expires_at: new Date(now.getTime() + SESSION_SECONDS * 1000)
    })
    .execute()
  return token
}

/** The user of a live session. */
export const findSessionUser = (db: Db, token: string, purpose: SessionPurpose, now: Date) =>
  db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select(['users.id', 'users.username', 'users.name'])
    .where('sessions.token_hash', '=', hashToken(token))
    .where('sessions.purpose', '=', purpose)
    .where('sessions.expires_at', '>', now.toISOString())
    .where('users.suspended', '=', false)
    .executeTakeFirst()

export async function endSession(db: Db, token: string) {
  await db.deleteFrom('sessions').where('token_hash', '=', hashToken(token)).execute()
}
