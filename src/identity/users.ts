/** Users of the host platform, as far as Herald must know them. */
import { badRequest, conflict, notFound } from '../errors.ts'
import { type Db, type Defaulted, violatedConstraint } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { announce } from './changes.ts'
import { hashPassword, PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from './passwords.ts'

declare module '../storage/db.ts' {
  interface Tables {
    users: {
      id: string
      username: string
      name: string
      password_hash: string | null
      protected: Defaulted<boolean>
      suspended: Defaulted<boolean>
      profile: Defaulted<Record<string, unknown>>
      created_at: Time
      updated_at: Time
    }
  }
}

/** Everything but the password. */
const PUBLIC_COLUMNS = [
  'id',
  'username',
  'name',
  'protected',
  'suspended',
  'profile',
  'created_at',
  'updated_at'
] as const

export interface NewUser {
  /** The host platform's id, if it has one. */
  id?: string
  username: string
  name?: string
  /** Without one the user cannot sign in on the authorize pages. */
  password?: string
  protected?: boolean
  profile?: Record<string, unknown>
}

export async function createUser(db: Db, input: NewUser, now: Date) {
  if (input.id !== undefined && !/^[0-9]{1,19}$/.test(input.id)) {
    throw badRequest('INVALID_PARAMETER', 'id must be 1 to 19 digits', { parameter: 'id' })
  }
  const user = await db
    .insertInto('users')
    .values({
      id: input.id ?? newId(),
      username: checkedUsername(input.username),
      name: input.name ?? input.username,
      password_hash: input.password === undefined ? null : await hashPassword(checkedPassword(input.password)),
      protected: input.protected ?? false,
      profile: input.profile ?? {},
      created_at: now,
      updated_at: now
    })
    .returning(PUBLIC_COLUMNS)
    .executeTakeFirstOrThrow()
    .catch((error) => {
      throw takenName(error, input.username)
    })
  return user
}

export const listUsers = (db: Db, page: { after?: string; limit?: number } = {}) =>
  db
    .selectFrom('users')
    .select(PUBLIC_COLUMNS)
    .where('id', '>', page.after ?? '')
    .orderBy('id')
    .limit(page.limit ?? 1000)
    .execute()

export const findUser = (db: Db, id: string) =>
  db.selectFrom('users').select(PUBLIC_COLUMNS).where('id', '=', id).executeTakeFirst()

/** Those of them that Herald knows. */
export const findUsers = (db: Db, ids: readonly string[]) =>
  db
    .selectFrom('users')
    .select(PUBLIC_COLUMNS)
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .execute()

export type User = NonNullable<Awaited<ReturnType<typeof findUser>>>

export const findUserByName = (db: Db, username: string) =>
  db
    .selectFrom('users')
    .select(PUBLIC_COLUMNS)
    .where((eb) => eb(eb.fn<string>('lower', ['username']), '=', username.toLowerCase()))
    .executeTakeFirst()

/** Those of them that exist, whatever the case. */
export const findUsersByName = async (db: Db, usernames: readonly string[]): Promise<User[]> => {
  if (usernames.length === 0) return []
  const names = [...new Set(usernames.map((name) => name.toLowerCase()))]
  return db
    .selectFrom('users')
    .select(PUBLIC_COLUMNS)
    .where((eb) => eb(eb.fn<string>('lower', ['username']), '=', eb.fn.any(eb.val(names))))
    .execute()
}

export async function getUser(db: Db, id: string): Promise<User> {
  const user = await findUser(db, id)
  if (!user) throw notFound('USER_NOT_FOUND', `User ${id} was not found`)
  return user
}

export interface UserPatch {
  username?: string
  name?: string
  password?: string
  protected?: boolean
  suspended?: boolean
  profile?: Record<string, unknown>
}

/** A new password or a suspension ends the user's sessions in browsers; tokens of apps stay. */
export async function updateUser(db: Db, id: string, { password, ...patch }: UserPatch, now: Date): Promise<User> {
  const user = await db
    .updateTable('users')
    .set({
      ...patch,
      ...(patch.username === undefined ? {} : { username: checkedUsername(patch.username) }),
      ...(password === undefined ? {} : { password_hash: await hashPassword(checkedPassword(password)) }),
      updated_at: now
    })
    .where('id', '=', id)
    .returning(PUBLIC_COLUMNS)
    .executeTakeFirst()
    .catch((error) => {
      throw takenName(error, patch.username)
    })
  if (!user) throw notFound('USER_NOT_FOUND', `User ${id} was not found`)
  if (password !== undefined || patch.suspended) await db.deleteFrom('sessions').where('user_id', '=', id).execute()
  await announce(db, { user: id })
  return user
}

function takenName(error: unknown, username: string | undefined) {
  const constraint = violatedConstraint(error)
  if (constraint === 'users_username') return conflict('USERNAME_TAKEN', `The username ${username} is taken`)
  if (constraint === 'users_pkey') return conflict('USER_EXISTS', 'A user with this id exists')
  return error
}

function checkedUsername(username: string) {
  if (!/^[A-Za-z0-9_]{1,50}$/.test(username)) {
    throw badRequest('INVALID_PARAMETER', 'username must be 1 to 50 letters, digits or underscores', {
      parameter: 'username'
    })
  }
  return username
}

function checkedPassword(password: string) {
  if (password.length < PASSWORD_LENGTH_MIN || password.length > PASSWORD_LENGTH_MAX) {
    throw badRequest(
      'INVALID_PARAMETER',
      `password must have ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`,
      { parameter: 'password' }
    )
  }
  return password
}
