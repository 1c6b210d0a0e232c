/** Every setting: type, default, one sentence. The only file that reads the environment; docs/configuration.md is printed from it. */
import { resolve } from 'node:path'

interface Setting<T> {
  default: string
  parse: (text: string) => T
  /** One sentence for docs/configuration.md. */
  about: string
  /** Never printed. */
  secret?: boolean
}

class BadValue extends Error {}

const fail = (why: string): never => {
  throw new BadValue(why)
}

const text = (defaultValue: string, about: string): Setting<string> => ({
  default: defaultValue,
  parse: (t) => t,
  about
})
const secret = (about: string): Setting<string> => ({ default: '', parse: (t) => t, about, secret: true })
const whole = (defaultValue: number, min: number, max: number, about: string): Setting<number> => ({
  default: String(defaultValue),
  parse: (t) => {
    const n = Number(t)
    return Number.isInteger(n) && n >= min && n <= max ? n : fail(`must be a whole number from ${min} to ${max}`)
  },
  about
})
const flag = (defaultValue: boolean, about: string): Setting<boolean> => ({
  default: defaultValue ? '1' : '0',
  parse: (t) => {
    if (/^(1|true|yes|on)$/i.test(t)) return true
    return /^(0|false|no|off)$/i.test(t) ? false : fail('must be 1 or 0')
  },
  about
})
const oneOf = <const V extends string>(values: readonly V[], defaultValue: V, about: string): Setting<V> => ({
  default: defaultValue,
  parse: (t) => values.find((v) => v === t) ?? fail(`must be one of ${values.join(', ')}`),
  about
})
const someOf = <const V extends string>(values: readonly V[], about: string): Setting<V[]> => ({
  default: values.join(','),
  parse: (t) =>
    t
      .split(',')
      .map((part) => values.find((v) => v === part.trim()) ?? fail(`must be a comma list out of ${values.join(', ')}`)),
  about
})
/** Delays such as `3s,27s,242s`; units ms, s, m, h, d. */
const delays = (defaultValue: string, about: string): Setting<number[]> => ({
  default: defaultValue,
  parse: (t) =>
    t.trim() === ''
      ? []
      : t.split(',').map((part) => parseDuration(part.trim()) ?? fail('must be a comma list such as 3s,27s,4m')),
  about
})
const duration = (defaultValue: string, about: string): Setting<number> => ({
  default: defaultValue,
  parse: (t) => parseDuration(t) ?? fail('must be a duration such as 500ms, 10s, 15m, 28h or 3d'),
  about
})

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `1h30m` → milliseconds; undefined when it is not a duration. */
export function parseDuration(input: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(input)) return undefined
  let total = 0
  for (const [, amount, unit] of input.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
    total += Number(amount) * UNIT_MS[unit!]!
  return Math.round(total)
}

export interface ResolveTarget {
  address: string
  port?: number
}

const connectTo: Setting<Map<string, ResolveTarget>> = {
  default: '',
  parse: (t) =>
    new Map(
      t
        .split(',')
        .filter((part) => part.trim() !== '')
        .map((part) => {
          const match = /^\s*([^=\s]+)=(\[[0-9a-fA-F:]+\]|[0-9.]+)(?::(\d{1,5}))?\s*$/.exec(part)
          if (!match) return fail('must look like hooks.example.test=127.0.0.1:9443,other.test=[::1]')
          const address = match[2]!.replace(/^\[|\]$/g, '')
          return [match[1]!.toLowerCase(), match[3] ? { address, port: Number(match[3]) } : { address }] as const
        })
    ),
  about:
    'Maps host names of targets to an address and port, as curl --connect-to does: `hooks.example.test=127.0.0.1:9443,…`.'
}

export const ROLES = ['api', 'deliver', 'work'] as const
export type Role = (typeof ROLES)[number]

/** Grouped for the printed page; a setting's environment variable is its key. */
export const settings = {
  Server: {
    HERALD_HOST: text('127.0.0.1', 'Address both listeners bind to.'),
    HERALD_PORT: whole(
      8080,
      0,
      65535,
      'Main listener: /2, production /12, OAuth, /admin, console, docs. 0 picks a free port.'
    ),
    HERALD_SANDBOX_PORT: whole(
      8081,
      0,
      65535,
      'Sandbox listener: the advertising API under /12 on sandbox data. 0 picks a free port.'
    ),
    HERALD_PUBLIC_URL: text(
      '',
      'Address clients use for the main listener when a proxy stands in front; empty: taken from the Host header.'
    ),
    HERALD_SANDBOX_PUBLIC_URL: text('', 'The same for the sandbox listener.'),
    HERALD_TRUST_PROXY: flag(false, 'Believe X-Forwarded-For, -Proto and -Host (only behind a proxy that sets them).'),
    HERALD_ROLES: someOf(
      ROLES,
      'What this node does: api answers requests, deliver sends webhooks, work runs background jobs.'
    ),
    HERALD_BODY_BYTES_MAX: whole(5_000_000, 1_000, 100_000_000, 'Largest request body; larger ones are answered 413.'),
    HERALD_PROBLEM_TYPE_BASE: text(
      'https://herald.example/problems',
      'Start of the `type` URI of problem objects under /2.'
    )
  },
  Storage: {
    DATABASE_URL: { ...secret('PostgreSQL 15 or newer; empty: an embedded PostgreSQL 18 in the data directory.') },
    HERALD_DATA_DIR: text('./data', 'Embedded database, credentials.json, the secret key and caches.'),
    HERALD_DATABASE_CONNECTIONS_MAX: whole(20, 2, 500, 'Connections of one node to PostgreSQL.'),
    HERALD_SECRET_KEY: secret(
      '32 bytes in hex or base64 that encrypt secrets at rest; empty: a key file in the data directory.'
    ),
    HERALD_ADMIN_TOKEN: secret('Bearer token of the admin API; empty: the one created at the first start.')
  },
  Limits: {
    HERALD_RATE_LIMITS: oneOf(['on', 'off'], 'on', 'off keeps counting and sending the headers but never refuses.'),
    HERALD_RATE_LIMIT_OVERRIDES: {
      default: '',
      parse: (t: string) =>
        new Map(
          t
            .split(',')
            .filter(Boolean)
            .map((part) => {
              const match = /^\s*([\w.]+)=(\d+)\s*$/.exec(part)
              return match
                ? ([match[1]!, Number(match[2])] as const)
                : fail('must look like ads.global_reads=5,v2.webhooks=900')
            })
        ),
      about:
        'Other numbers for named limits, requests per window: `ads.global_reads=5,v2.webhooks=900` (names in docs/rate-limits.md).'
    } as Setting<Map<string, number>>
  },
  Egress: {
    HERALD_EGRESS_ALLOW_PRIVATE: flag(false, 'Development: targets may be private or loopback addresses.'),
    HERALD_EGRESS_RESOLVE: connectTo,
    HERALD_EGRESS_CA: text('', 'Path of one more certificate authority (PEM) to trust for targets.'),
    HERALD_DEV_LISTENER: oneOf(
      ['auto', 'on', 'off'],
      'auto',
      'Development: webhooks may be registered at https://listen.herald.test/, the receiver of `herald listen` on this machine; auto: with the embedded database and a loopback HERALD_HOST only.'
    )
  },
  Webhooks: {
    HERALD_WEBHOOKS_PER_APP_MAX: whole(
      100,
      0,
      1_000_000,
      'Webhooks an app may register unless its own quota says otherwise.'
    ),
    HERALD_SIGNATURE_HEADER: text(
      'x-svc-webhooks-signature',
      'Name of the signature header on deliveries and CRC requests.'
    ),
    HERALD_DELIVERY_DEADLINE: duration('10s', 'Time a consumer has to answer a delivery or a CRC.'),
    HERALD_DELIVERY_RETRIES: delays(
      '3s,27s,242s',
      'Delays before each retry, counted from the end of the previous attempt.'
    ),
    HERALD_DELIVERY_IN_FLIGHT_MAX: whole(32, 1, 10_000, 'Requests in flight to one webhook at most.'),
    HERALD_DELIVERY_LANE_LEASE: duration('30s', "How long a node may own a webhook's lane without renewing."),
    HERALD_RECORDS_RETENTION: duration('72h', 'How long events, deliveries and attempts are kept; at least 24h.'),
    HERALD_REPLAY_RATE_MAX: whole(2_500, 1, 1_000_000, 'Replayed events per second and job.'),
    HERALD_CRC_AUTO_RECOVER: flag(
      false,
      'Let a successful periodic CRC re-enable an invalid webhook; otherwise only PUT does.'
    )
  },
  Activity: {
    HERALD_SUBSCRIPTIONS_PER_APP_MAX: whole(
      50_000,
      0,
      10_000_000,
      'Activity subscriptions an app may have unless its own quota says otherwise.'
    ),
    HERALD_ACCOUNT_ACTIVITY_PER_APP_MAX: whole(
      5_000,
      0,
      10_000_000,
      'Account activity subscriptions an app may have unless its quota `account_activity` says otherwise.'
    ),
    HERALD_RULES_PER_APP_MAX: whole(
      25_000,
      0,
      10_000_000,
      'Filtered-stream rules an app may have unless its quota `rules` says otherwise.'
    ),
    HERALD_RULES_PER_PROJECT_MAX: whole(
      25_000,
      0,
      10_000_000,
      'Filtered-stream rules of all apps of a project together, unless the quota `project_rules` of the app says otherwise.'
    ),
    HERALD_RULE_CHARACTERS_MAX: whole(2_048, 1, 100_000, 'Longest filtered-stream rule.'),
    HERALD_POSTS_RETENTION: duration('30d', 'How long posts are kept for search and counts; 0s keeps none.'),
    HERALD_POST_CHARACTERS_MAX: whole(
      280,
      1,
      25_000,
      'Longest post that POST /2/tweets takes, in weighted characters.'
    ),
    HERALD_REPLIES_NEED_SUMMONS: flag(
      false,
      'Take replies only to authors who mentioned or quoted the one who replies, as self-serve plans do.'
    ),
    HERALD_FILTERED_STREAM_CONNECTIONS_MAX: whole(
      1,
      0,
      100_000,
      'Open filtered streams of an app, unless its quota `filtered_stream_connections` says otherwise.'
    ),
    HERALD_ACTIVITY_STREAM_CONNECTIONS_MAX: whole(
      2,
      0,
      100_000,
      'Open activity streams of an app, unless its quota `activity_stream_connections` says otherwise.'
    ),
    HERALD_STREAM_RECOVERIES_MAX: whole(
      2,
      0,
      1_000,
      'Past ranges (`start_time`) that an app may stream at the same time, per kind of stream.'
    ),
    HERALD_STREAM_KEEP_ALIVE: duration('15s', 'A stream without events gets an empty line this often; at most 18s.'),
    HERALD_STREAM_BUFFER_BYTES_MAX: whole(
      262_144,
      1_000,
      1_000_000_000,
      'Bytes kept in memory for one reader of a stream; events beyond that are read again when it has caught up.'
    ),
    HERALD_STREAM_BACKLOG_MAX: whole(
      50_000,
      250,
      10_000_000,
      'Events that one reader of a stream may be behind; one that falls behind further is disconnected.'
    ),
    HERALD_STREAM_STALL: duration('60s', 'A stream whose reader has taken nothing for this long is disconnected.')
  },
  Campaigns: {
    HERALD_AUDIENCE_PEOPLE: whole(
      10_000_000,
      1_000,
      2_000_000_000,
      'People of the generated population that audience estimates count in, unless one of your own was imported.'
    )
  },
  Catalog: {
    HERALD_PRODUCT_SETS_PER_CATALOG_MAX: whole(1_000, 0, 100_000, 'Product sets a catalog may have.'),
    HERALD_PRODUCT_SET_AT_ONCE_MAX: whole(
      20_000,
      0,
      10_000_000,
      'Filtered sets of catalogs with up to so many products are computed before the answer; others in the background.'
    ),
    HERALD_IMAGE_CHECKS: flag(true, 'Look at product images in the background and warn about those that are wrong.'),
    HERALD_IMAGE_CHECKS_IN_FLIGHT_MAX: whole(8, 1, 100, 'Images of one catalog that are fetched at the same time.'),
    HERALD_FEED_DEADLINE: duration('6h', 'Time a feed host has to send the whole file.'),
    HERALD_FEED_GUARD_PERCENT: whole(
      50,
      1,
      100,
      'An import waits for confirmation if more of a catalog than this would visibly change; 100 never waits.'
    ),
    HERALD_FEED_REJECTED_ROWS_MAX: whole(100_000, 0, 10_000_000, 'Rejected rows of one import kept for download.'),
    HERALD_FEED_RUNS_RETENTION: duration('30d', 'How long the reports of imports are kept.')
  },
  Diagnostics: {
    HERALD_LOG_LEVEL: oneOf(
      ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
      'info',
      'Least severe level that is logged.'
    ),
    HERALD_TEST_CLOCK: flag(false, 'Development: POST /admin/clock may move the time.')
  }
} as const

type Groups = typeof settings
type Union<T> = (T extends unknown ? (x: T) => void : never) extends (x: infer I) => void ? I : never
type Flat = Union<{ [G in keyof Groups]: Groups[G] }[keyof Groups]>
export type Config = { readonly [K in keyof Flat]: Flat[K] extends Setting<infer T> ? T : never }

/** A bad setting stops the start; the message says which and why, and never repeats a secret. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

export function loadConfig(env: Record<string, string | undefined>): Config {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  const all = Object.assign({}, ...Object.values(settings)) as Record<string, Setting<unknown>>
  for (const [name, setting] of Object.entries(all)) {
    const given = env[name]
    const raw = given === undefined || given === '' ? setting.default : given
    try {
      values[name] = setting.parse(raw)
    } catch (error) {
      if (!(error instanceof BadValue)) throw error
      problems.push(`${name}${setting.secret ? '' : ` is "${raw}"; it`} ${error.message}.`)
    }
  }
  const config = values as Config
  if (config.HERALD_RECORDS_RETENTION < 24 * UNIT_MS.h!) {
    problems.push('HERALD_RECORDS_RETENTION must be at least 24h: a replay may reach back that far.')
  }
  if (config.HERALD_STREAM_KEEP_ALIVE < 1 || config.HERALD_STREAM_KEEP_ALIVE > 18_000) {
    problems.push('HERALD_STREAM_KEEP_ALIVE must be at most 18s: clients expect a sign of life every 20 seconds.')
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  return Object.freeze({ ...config, HERALD_DATA_DIR: resolve(config.HERALD_DATA_DIR) })
}

/** Names that look like ours but are not: most likely a typing error, worth a warning. */
export function unknownSettings(env: Record<string, string | undefined>) {
  const known = new Set(Object.values(settings).flatMap((group) => Object.keys(group)))
  return Object.keys(env).filter((name) => name.startsWith('HERALD_') && !known.has(name))
}

/** docs/configuration.md; a test keeps the committed page equal to this. */
export function printConfiguration() {
  const lines = [
    '# Configuration',
    '',
    'Every setting is an environment variable; all have defaults. A bad value stops the start with a sentence that names it.',
    'This page is printed from `src/config.ts` by `npx herald config --markdown`.'
  ]
  for (const [group, entries] of Object.entries(settings)) {
    lines.push('', `## ${group}`, '', '| Setting | Default | Meaning |', '|---|---|---|')
    for (const [name, setting] of Object.entries(entries as Record<string, Setting<unknown>>)) {
      lines.push(`| \`${name}\` | ${setting.default === '' ? '' : `\`${setting.default}\``} | ${setting.about} |`)
    }
  }
  return `${lines.join('\n')}\n`
}
