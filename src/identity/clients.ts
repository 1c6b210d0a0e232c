/** Which app is asking, at the endpoints where apps show their own credentials. */
import type { Db } from '../storage/db.ts'
import { openConsumerSecrets, validSecrets } from './apps.ts'
import { hashToken, sameSecret, type Vault } from './secrets.ts'

/** The app with this consumer key, if the secret is one of its valid ones. */
export async function appByConsumerSecret(
  db: Db,
  vault: Vault,
  credentials: { name: string; secret: string },
  nowMs: number
) {
  const app = await db
    .selectFrom('apps')
    .select([
      'id',
      'owner_user_id',
      'consumer_secret',
      'previous_consumer_secret',
      'previous_consumer_secret_valid_until'
    ])
    .where('consumer_key', '=', credentials.name)
    .where('suspended', '=', false)
    .executeTakeFirst()
  if (!app) return undefined
  const secrets = validSecrets(openConsumerSecrets(vault, app), nowMs)
  return secrets.filter((secret) => sameSecret(secret, credentials.secret)).length > 0 ? app : undefined
}

export const findClient = (db: Db, clientId: string) =>
  db
    .selectFrom('apps')
    .select(['id', 'name', 'client_type', 'client_secret_hash', 'redirect_uris'])
    .where('client_id', '=', clientId)
    .where('suspended', '=', false)
    .executeTakeFirst()

export type Client = NonNullable<Awaited<ReturnType<typeof findClient>>>

export const clientSecretFits = (client: Client, secret: string) =>
  client.client_secret_hash?.equals(hashToken(secret)) ?? false
