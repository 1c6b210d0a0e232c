/** The commands, one entry each. */
import { createAccount, importAudience } from '../campaigns/index.ts'
import { printConfiguration } from '../config.ts'
import { createDemo, credentialsFile, demoExists, printWelcome } from '../demo.ts'
import type { Deps } from '../deps.ts'
import { badRequest } from '../errors.ts'
import {
  ALL_SCOPES,
  appBearerToken,
  createAdminToken,
  createApp,
  createOAuth1AccessToken,
  createOAuth2UserToken,
  createUser,
  getUser,
  grantAccountAccess,
  listAccountAccess,
  listApps,
  listTokens,
  listUsers,
  revokeAccountAccess,
  revokeTokenById,
  rotateConsumerSecret
} from '../identity/index.ts'
import { serve } from '../serve.ts'
import { DEFAULT_PATH as LISTEN_PATH, DEFAULT_PORT as LISTEN_PORT, listen } from './listen.ts'
import { callServer } from './server.ts'
import { withDeps } from './session.ts'
import { WEBHOOK_COMMANDS } from './webhooks.ts'

interface Call {
  values: Record<string, string | boolean | undefined>
  positionals: string[]
  env: NodeJS.ProcessEnv
}

export interface Command {
  name: string
  args?: string
  about: string
  options?: Record<string, { type: 'string' | 'boolean'; about: string }>
  example?: string
  run(call: Call): Promise<unknown>
}

const string = (about: string) => ({ type: 'string', about }) as const
const now = ({ clock }: Deps) => new Date(clock.now())

function needed(value: string | boolean | undefined, what: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw badRequest('MISSING', `${what} is missing; add --help to see how the command is used`)
}

const optional = (value: string | boolean | undefined) => (typeof value === 'string' ? value : undefined)

export const COMMANDS: Command[] = [
  {
    name: 'serve',
    args: '[--roles api,deliver,work]',
    about: 'Run the server (what npm start does).',
    options: { roles: string('what this node does: api, deliver, work (all by default)') },
    run: async ({ values, env }) => {
      await serve({ ...env, ...(typeof values.roles === 'string' ? { HERALD_ROLES: values.roles } : {}) })
      // The server stops the process itself.
      await new Promise(() => {})
    }
  },
  {
    name: 'migrate',
    about: 'Bring the database to this version and stop.',
    run: ({ env }) => withDeps(env, async () => 'The database is up to date.')
  },
  {
    name: 'demo',
    about: 'Create the demo tenant and write credentials.json.',
    run: ({ env }) =>
      withDeps(env, async (deps) => {
        if (await demoExists(deps)) return `The demo tenant exists; its credentials are in ${credentialsFile(deps)}.`
        return printWelcome(await createDemo(deps), credentialsFile(deps))
      })
  },
  {
    name: 'config',
    args: '[--markdown]',
    about: 'Print every setting with its default.',
    options: { markdown: { type: 'boolean', about: 'as docs/configuration.md' } },
    run: async () => printConfiguration()
  },
  {
    name: 'app create',
    args: '<name>',
    about: 'Create an app; its secrets are shown this once.',
    options: {
      owner: string('id of the user it belongs to'),
      ads: string('none, read or read-write'),
      redirect: string('redirect URI for OAuth 2.0')
    },
    example: 'app create "My bot" --ads read-write',
    run: ({ values, positionals, env }) =>
      withDeps(env, async (deps) => {
        const app = await createApp(
          deps.database.db,
          deps.vault,
          {
            name: needed(positionals[0], 'The name of the app'),
            owner_user_id: optional(values.owner) ?? null,
            ads_access: (optional(values.ads) ?? 'none') as 'none',
            redirect_uris: typeof values.redirect === 'string' ? [values.redirect] : []
          },
          now(deps)
        )
        return { ...app, bearer_token: await appBearerToken(deps.database.db, deps.vault, app.id, now(deps)) }
      })
  },
  {
    name: 'app list',
    about: 'List apps.',
    run: ({ env }) =>
      withDeps(env, async ({ database }) =>
        (await listApps(database.db)).map(({ id, name, consumer_key, ads_access, created_at }) => ({
          id,
          name,
          consumer_key,
          ads_access,
          created_at
        }))
      )
  },
  {
    name: 'app rotate-secret',
    args: '<app id> [--overlap-hours 24]',
    about: 'A new consumer secret; the old one stays valid for the overlap.',
    options: { 'overlap-hours': string('how long both are valid') },
    run: ({ values, positionals, env }) =>
      withDeps(env, async (deps) => {
        const overlap = typeof values['overlap-hours'] === 'string' ? Number(values['overlap-hours']) * 3600 : undefined
        const { id, consumer_secret, previous_consumer_secret_valid_until } = await rotateConsumerSecret(
          deps.database.db,
          deps.vault,
          needed(positionals[0], 'The id of the app'),
          now(deps),
          overlap
        )
        return { id, consumer_secret, previous_consumer_secret_valid_until }
      })
  },
  {
    name: 'user create',
    args: '<username> [--password …]',
    about: 'Create a user.',
    options: {
      password: string('lets the user sign in'),
      name: string('display name'),
      id: string("the host platform's id")
    },
    run: ({ values, positionals, env }) =>
      withDeps(env, async (deps) =>
        createUser(
          deps.database.db,
          {
            username: needed(positionals[0], 'The username'),
            password: optional(values.password),
            name: optional(values.name),
            id: optional(values.id)
          },
          now(deps)
        )
      )
  },
  {
    name: 'user list',
    about: 'List users.',
    run: ({ env }) =>
      withDeps(env, async ({ database }) =>
        (await listUsers(database.db)).map(({ id, username, name, created_at }) => ({ id, username, name, created_at }))
      )
  },
  {
    name: 'token create',
    args: '--kind app|oauth2|oauth1|admin',
    about: 'Create a token, shown this once.',
    options: {
      kind: string('app, oauth2, oauth1 or admin'),
      app: string('app id'),
      user: string('user id'),
      scopes: string('comma list (oauth2); all by default'),
      name: string('what an admin token is for')
    },
    example: 'token create --kind oauth2 --app 4880… --user 4880… --scopes tweet.read,users.read',
    run: ({ values, env }) => withDeps(env, (deps) => issueToken(deps, values))
  },
  {
    name: 'token list',
    about: 'List tokens; what they are for, never what they are.',
    run: ({ env }) => withDeps(env, ({ database }) => listTokens(database.db))
  },
  {
    name: 'token revoke',
    args: '<token id>',
    about: 'Revoke a token.',
    run: ({ positionals, env }) =>
      withDeps(env, (deps) =>
        deps.database.db
          .transaction()
          .execute((tx) => revokeTokenById(tx, needed(positionals[0], 'The id of the token'), now(deps)))
      )
  },
  {
    name: 'account create',
    args: '--owner <user id> [--environment sandbox]',
    about: 'Create an ad account; the owner becomes its admin.',
    options: {
      owner: string('user id'),
      name: string('name of the account'),
      environment: string('production (default) or sandbox'),
      timezone: string('IANA name')
    },
    example: 'account create --owner 4880… --name "Acme Ads"',
    run: ({ values, env }) =>
      withDeps(env, async (deps) => {
        const environment = optional(values.environment) ?? 'production'
        if (environment !== 'production' && environment !== 'sandbox') {
          throw badRequest('ENVIRONMENT', '--environment must be production or sandbox')
        }
        const { db } = deps.database
        const { id: ownerUserId } = await getUser(db, needed(values.owner, '--owner'))
        const { id, name, timezone } = await db
          .transaction()
          .execute((tx) =>
            createAccount(
              tx,
              { environment, ownerUserId, name: optional(values.name), timezone: optional(values.timezone) },
              now(deps)
            )
          )
        return { id, name, environment, timezone }
      })
  },
  {
    name: 'account list',
    about: 'List ad accounts of both environments.',
    run: ({ env }) =>
      withDeps(env, ({ database }) =>
        database.db
          .selectFrom('ad_accounts')
          .select(['id', 'environment', 'name', 'approval_status', 'created_at', 'deleted'])
          .orderBy('id')
          .limit(1_000)
          .execute()
      )
  },
  {
    name: 'access create',
    args: '--account … --user … --permissions …',
    about: 'Give a user permissions on an ad account.',
    options: {
      account: string('ad account id'),
      user: string('user id'),
      permissions: string('comma list, e.g. AD_MANAGER,TWEET_COMPOSER')
    },
    run: ({ values, env }) =>
      withDeps(env, (deps) =>
        grantAccountAccess(
          deps.database.db,
          {
            account_id: needed(values.account, '--account'),
            user_id: needed(values.user, '--user'),
            permissions: needed(values.permissions, '--permissions').split(',')
          },
          now(deps)
        )
      )
  },
  {
    name: 'access list',
    about: 'Who may do what in which ad account.',
    run: ({ env }) => withDeps(env, ({ database }) => listAccountAccess(database.db))
  },
  {
    name: 'access revoke',
    args: '--account … --user …',
    about: 'Take a user off an ad account.',
    options: { account: string('ad account id'), user: string('user id') },
    run: ({ values, env }) =>
      withDeps(env, async ({ database }) => ({
        revoked: await revokeAccountAccess(
          database.db,
          needed(values.account, '--account'),
          needed(values.user, '--user')
        )
      }))
  },
  {
    name: 'audience import',
    args: '<file.ndjson>',
    about: 'Let audience estimates count in people of your own, one JSON object per line.',
    example:
      'audience import people.ndjson   with lines such as {"LOCATION":["96683cc9126741d1"],"AGE":[34],"INTEREST":["1001"]}',
    run: ({ positionals, env }) => withDeps(env, (deps) => importAudience(deps, needed(positionals[0], 'The file')))
  },
  {
    name: 'audience reset',
    about: 'Let audience estimates count in the generated population again.',
    run: ({ env }) =>
      withDeps(env, async (deps) => {
        await importAudience(deps, null)
        return 'Audience estimates count in the generated population.'
      })
  },
  {
    name: 'listen',
    args: '[--register] [--subscribe post.create:42]',
    about: 'Receive webhooks on this machine: answers CRCs, checks signatures, shows events.',
    options: {
      register: { type: 'boolean', about: 'register it as a webhook of the app in credentials.json' },
      subscribe: string('register, and subscribe to these event types of these users: post.create:42,…'),
      port: string(`port on 127.0.0.1 (${LISTEN_PORT})`),
      path: string(`path of the webhook (${LISTEN_PATH})`),
      secret: string("the app's consumer secret, if not that of credentials.json"),
      token: string("the app's bearer token, if not that of credentials.json"),
      slow: string('answer after this long: 5s'),
      fail: string('answer with this status: 500'),
      redirect: { type: 'boolean', about: 'answer with a redirect' },
      lie: { type: 'boolean', about: 'answer CRCs with a wrong token' },
      stall: { type: 'boolean', about: 'take requests and never answer' }
    },
    example: 'listen --subscribe post.create:42',
    run: ({ values, env }) => listen(values, env)
  },
  ...WEBHOOK_COMMANDS,
  {
    name: 'event publish',
    args: '<file.json | ->',
    about: 'Publish events to the running server: one event, an array, or NDJSON.',
    example: `event publish - <<< '{"event_type":"post.create","user_id":"42","payload":{"id":"1","text":"hello","author_id":"42"}}'`,
    run: ({ positionals, env }) => callServer(env, 'events', needed(positionals[0], 'The file with the events'))
  },
  {
    name: 'clock',
    args: '[advance 28h | set 2026-01-15T12:00:00Z]',
    about: 'Read or move the test clock of the running server.',
    run: ({ positionals, env }) => callServer(env, 'clock', ...positionals)
  }
]

async function issueToken(deps: Deps, values: Call['values']): Promise<object> {
  const { db } = deps.database
  const kind = needed(values.kind, '--kind')
  if (kind === 'admin') return createAdminToken(db, { name: optional(values.name) ?? 'cli' }, now(deps))
  const app_id = needed(values.app, '--app')
  if (kind === 'app')
    return { token_type: 'bearer', access_token: await appBearerToken(db, deps.vault, app_id, now(deps)) }
  const user_id = needed(values.user, '--user')
  if (kind === 'oauth1')
    return createOAuth1AccessToken(
      db,
      deps.vault,
      { app_id, user_id, permissions: 'read-write-directmessages' },
      now(deps)
    )
  if (kind !== 'oauth2') throw badRequest('KIND', '--kind must be app, oauth2, oauth1 or admin')
  const scopes = optional(values.scopes)?.split(',') ?? ALL_SCOPES
  return db
    .transaction()
    .execute((tx) => createOAuth2UserToken(tx, { app_id, user_id, scopes, expiresIn: null }, now(deps)))
}
