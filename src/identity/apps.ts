/** Apps: what a developer registers. One set of keys for OAuth 1.0a, CRC and signatures, one for OAuth 2.0. */
import { sql } from 'kysely'
import { badRequest, notFound } from '../errors.ts'
import { type Db, type Defaulted, violatedConstraint } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { announce } from './changes.ts'
import type { PermissionLevel } from './scopes.ts'
import { hashToken, randomText, type Vault } from './secrets.ts'

export const REDIRECT_URIS_MAX = 10
/** What an app may use unless it was registered with less. */
export const PRODUCTS = [
  'webhooks',
  'activity',
  'account_activity',
  'filtered_stream',
  'powerstream',
  'search',
  'posts',
  'notes'
] as const
export type Product = (typeof PRODUCTS)[number]
export type AdsAccess = 'none' | 'read' | 'read-write'
export type ClientType = 'public' | 'confidential'

declare module '../storage/db.ts' {
  interface Tables {
    apps: {
      id: string
      name: string
      owner_user_id: string | null
      project_id: string | null
      permissions: Defaulted<PermissionLevel>
      consumer_key: string
      consumer_secret: Buffer
      previous_consumer_secret: Buffer | null
      previous_consumer_secret_valid_until: TimeOrNull
      client_id: string
      client_type: Defaulted<ClientType>
      client_secret_hash: Buffer | null
      redirect_uris: Defaulted<string[]>
      products: Defaulted<string[]>
      ads_access: Defaulted<AdsAccess>
      quotas: Defaulted<Record<string, number>>
      suspended: Defaulted<boolean>
      created_at: Time
      updated_at: Time
    }
  }
}

/** Everything but the secrets. */
const PUBLIC_COLUMNS = [
  'id',
  'name',
  'owner_user_id',
  'project_id',
  'permissions',
  'consumer_key',
  'client_id',
  'client_type',
  'redirect_uris',
  'products',
  'ads_access',
  'quotas',
  'suspended',
  'created_at',
  'updated_at'
] as const

export interface NewApp {
  name: string
  owner_user_id?: string | null
  /** Every app is in a project of its own unless told otherwise; null: in none, and so not enrolled. */
  project_id?: string | null
  permissions?: PermissionLevel
  client_type?: ClientType
  redirect_uris?: string[]
  products?: string[]
  ads_access?: AdsAccess
  quotas?: Record<string, number>
}

const sealedAs = (appId: string) => `apps.consumer_secret:${appId}`

/** The app with its secrets, which are shown this once. */
export async function createApp(db: Db, vault: Vault, input: NewApp, now: Date) {
  const id = newId()
  const consumer_secret = randomText(32)
  const client_type = input.client_type ?? 'confidential'
  const client_secret = client_type === 'confidential' ? randomText(32) : null
  const app = await db
    .insertInto('apps')
    .values({
      id,
      name: checkedName(input.name),
      owner_user_id: input.owner_user_id ?? null,
      project_id: input.project_id === undefined ? newId() : input.project_id,
      permissions: input.permissions ?? 'read-write-directmessages',
      consumer_key: randomText(18),
      consumer_secret: vault.encrypt(consumer_secret, sealedAs(id)),
      client_id: randomText(24),
      client_type,
      client_secret_hash: client_secret === null ? null : hashToken(client_secret),
      redirect_uris: checkedRedirectUris(input.redirect_uris ?? []),
      products: input.products ?? [...PRODUCTS],
      ads_access: input.ads_access ?? 'none',
      quotas: checkedQuotas(input.quotas ?? {}),
      created_at: now,
      updated_at: now
    })
    .returning(PUBLIC_COLUMNS)
    .executeTakeFirstOrThrow()
    .catch((error) => {
      if (violatedConstraint(error) === 'apps_owner_user_id_fkey') throw noSuchUser(input.owner_user_id)
      throw error
    })
  return { ...app, consumer_secret, client_secret }
}

export const listApps = (db: Db, filter: { owner_user_id?: string } = {}) => {
  let query = db.selectFrom('apps').select(PUBLIC_COLUMNS)
  if (filter.owner_user_id !== undefined) query = query.where('owner_user_id', '=', filter.owner_user_id)
  return query.orderBy('id').execute()
}

export const findApp = (db: Db, id: string) =>
  db.selectFrom('apps').select(PUBLIC_COLUMNS).where('id', '=', id).executeTakeFirst()

/** Those of them that exist. */
export const findApps = (db: Db, ids: readonly string[]) =>
  db
    .selectFrom('apps')
    .select(PUBLIC_COLUMNS)
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .execute()

/** For queries of what is to be sent: nothing is, to an app that is suspended. */
export const isOfActiveApp = (column: string) =>
  sql<boolean>`${sql.ref(column)} <> all (array(select id from apps where suspended))`

export type App = NonNullable<Awaited<ReturnType<typeof findApp>>>

export async function getApp(db: Db, id: string): Promise<App> {
  const app = await findApp(db, id)
  if (!app) throw noSuchApp(id)
  return app
}

export interface AppPatch {
  name?: string
  owner_user_id?: string | null
  project_id?: string | null
  permissions?: PermissionLevel
  redirect_uris?: string[]
  products?: string[]
  ads_access?: AdsAccess
  suspended?: boolean
}

export async function updateApp(db: Db, id: string, patch: AppPatch, now: Date): Promise<App> {
  const app = await db
    .updateTable('apps')
    .set({
      ...patch,
      ...(patch.name === undefined ? {} : { name: checkedName(patch.name) }),
      ...(patch.redirect_uris ? { redirect_uris: checkedRedirectUris(patch.redirect_uris) } : {}),
      updated_at: now
    })
    .where('id', '=', id)
    .returning(PUBLIC_COLUMNS)
    .executeTakeFirst()
    .catch((error) => {
      if (violatedConstraint(error) === 'apps_owner_user_id_fkey') throw noSuchUser(patch.owner_user_id)
      throw error
    })
  if (!app) throw noSuchApp(id)
  await announce(db, { app: id })
  return app
}

/** With everything that hangs on it: tokens, webhooks, subscriptions, rules. Nodes forget it at once. */
export async function deleteApp(db: Db, id: string) {
  await db.transaction().execute(async (tx) => {
    const deleted = await tx.deleteFrom('apps').where('id', '=', id).returning('id').executeTakeFirst()
    if (!deleted) throw noSuchApp(id)
    await announce(tx, { app: id })
  })
  return { deleted: true }
}

/** Merged into what the app has; null takes a quota back to the server's default. */
export async function setAppQuotas(db: Db, id: string, quotas: Record<string, number | null>, now: Date) {
  const { quotas: current } = await getApp(db, id)
  const merged = Object.entries({ ...current, ...quotas }).filter(
    (entry): entry is [string, number] => entry[1] !== null
  )
  await db
    .updateTable('apps')
    .set({ quotas: checkedQuotas(Object.fromEntries(merged)), updated_at: now })
    .where('id', '=', id)
    .execute()
  await announce(db, { app: id })
  return getApp(db, id)
}

/** For this long after a rotation the old consumer secret still signs and verifies. */
export const SECRET_OVERLAP_SECONDS = 24 * 3600

/** A new consumer secret, shown this once. The old one stays valid beside it for the overlap. */
export async function rotateConsumerSecret(
  db: Db,
  vault: Vault,
  id: string,
  now: Date,
  overlapSeconds = SECRET_OVERLAP_SECONDS
) {
  const consumer_secret = randomText(32)
  const validUntil = overlapSeconds > 0 ? new Date(now.getTime() + overlapSeconds * 1000) : null
  const app = await db
    .updateTable('apps')
    .set((eb) => ({
      // The same row and column purpose, so the sealed bytes can move as they are.
      previous_consumer_secret: validUntil ? eb.ref('consumer_secret') : null,
      previous_consumer_secret_valid_until: validUntil,
      consumer_secret: vault.encrypt(consumer_secret, sealedAs(id)),
      updated_at: now
    }))
    .where('id', '=', id)
    .returning(PUBLIC_COLUMNS)
    .executeTakeFirst()
  if (!app) throw noSuchApp(id)
  await announce(db, { app: id })
  return { ...app, consumer_secret, previous_consumer_secret_valid_until: validUntil?.toISOString() ?? null }
}

/** A new OAuth 2.0 client secret, shown this once; the old one ends at once. */
export async function rotateClientSecret(db: Db, id: string, now: Date) {
  const client_secret = randomText(32)
  const app = await db
    .updateTable('apps')
    .set({ client_secret_hash: hashToken(client_secret), updated_at: now })
    .where('id', '=', id)
    .where('client_type', '=', 'confidential')
    .returning(PUBLIC_COLUMNS)
    .executeTakeFirst()
  if (!app) {
    await getApp(db, id)
    throw badRequest('PUBLIC_CLIENT', 'A public client has no client secret')
  }
  return { ...app, client_secret }
}

export interface ConsumerSecrets {
  current: string
  /** What was valid before the last rotation, and until when; callers compare it with their clock. */
  previous?: { secret: string; validUntil: string }
}

type SealedSecrets = {
  id: string
  consumer_secret: Buffer
  previous_consumer_secret: Buffer | null
  previous_consumer_secret_valid_until: string | null
}

export function openConsumerSecrets(vault: Vault, app: SealedSecrets): ConsumerSecrets {
  const current = vault.decrypt(app.consumer_secret, sealedAs(app.id))
  if (!app.previous_consumer_secret || !app.previous_consumer_secret_valid_until) return { current }
  return {
    current,
    previous: {
      secret: vault.decrypt(app.previous_consumer_secret, sealedAs(app.id)),
      validUntil: app.previous_consumer_secret_valid_until
    }
  }
}

/** The secrets that are valid at a moment, the newest first. */
export function validSecrets({ current, previous }: ConsumerSecrets, nowMs: number): string[] {
  return previous && Date.parse(previous.validUntil) > nowMs ? [current, previous.secret] : [current]
}

/** For CRC answers and signatures. Callers may cache it and listen on the channel `identity`. */
export async function consumerSecrets(db: Db, vault: Vault, appId: string): Promise<ConsumerSecrets> {
  const app = await db
    .selectFrom('apps')
    .select(['id', 'consumer_secret', 'previous_consumer_secret', 'previous_consumer_secret_valid_until'])
    .where('id', '=', appId)
    .executeTakeFirst()
  if (!app) throw noSuchApp(appId)
  return openConsumerSecrets(vault, app)
}

const noSuchApp = (id: string) => notFound('APP_NOT_FOUND', `App ${id} was not found`)
const noSuchUser = (id: unknown) =>
  badRequest('USER_NOT_FOUND', `User ${id} was not found`, { parameter: 'owner_user_id' })

function checkedName(name: string) {
  const trimmed = name.trim()
  if (trimmed === '' || trimmed.length > 100) {
    throw badRequest('INVALID_PARAMETER', 'name must have 1 to 100 characters', { parameter: 'name' })
  }
  return trimmed
}

function checkedQuotas(quotas: Record<string, number>) {
  for (const [name, value] of Object.entries(quotas)) {
    if (!/^[a-z][a-z0-9_.]{0,63}$/.test(name) || !Number.isSafeInteger(value) || value < 0) {
      throw badRequest('INVALID_PARAMETER', `Quota ${name} must be a whole number of 0 or more`, {
        parameter: 'quotas'
      })
    }
  }
  return quotas
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/
/** Schemes a browser would run or open itself instead of handing to an application. */
const REFUSED_SCHEMES = /^(javascript|data|vbscript|file|blob|about|ftp|ws|wss):$/

/** https anywhere, http on the developer's own machine, or an application's own scheme; no fragment, no user. */
export function isRedirectUri(text: string) {
  if (text.length > 2000 || !URL.canParse(text) || text.includes('#') || /[\s\p{Cc}]/u.test(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '' || REFUSED_SCHEMES.test(protocol)) return false
  return protocol === 'http:' ? LOOPBACK.test(hostname) : true
}

function checkedRedirectUris(uris: string[]) {
  const bad = uris.find((uri) => !isRedirectUri(uri))
  if (bad !== undefined || uris.length > REDIRECT_URIS_MAX) {
    throw badRequest(
      'INVALID_PARAMETER',
      bad === undefined
        ? `redirect_uris holds at most ${REDIRECT_URIS_MAX}`
        : `redirect_uris: ${bad} is not an https URL, an http URL on this machine, or an application's own scheme`,
      { parameter: 'redirect_uris' }
    )
  }
  return uris
}
