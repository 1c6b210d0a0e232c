/** No webhook turns invalid silently: a line in the log, and metrics to be alerted by. */
import type { Metrics } from '../http/metrics.ts'
import type { Db } from '../storage/db.ts'
import type { Log } from '../storage/log.ts'
import type { CrcClass } from './validity.ts'

export interface CrcMeasures {
  checked(cause: string, outcome: CrcClass): void
  /** After the commit that changed its state. No warning: it is not this server that fails. No URL: people put tokens into it. */
  turned(webhook: { app_id: string; id: string; valid: boolean; invalid_reason: string | null }): void
}

export function createCrcMeasures({ db, log, metrics }: { db: Db; log: Log; metrics: Metrics }): CrcMeasures {
  const checks = metrics.counter('herald_crc_checks_total', 'Challenge-response checks, by cause and outcome.', [
    'cause',
    'outcome'
  ])
  metrics.gauge('herald_webhooks', 'Registered webhooks of all apps, by state.', ['state'], async (gauge) => {
    // While the database is away nobody knows; the other metrics are all the more of interest.
    gauge.reset()
    const counts = await countStates(db).catch(() => undefined)
    if (!counts) return
    gauge.set({ state: 'valid' }, Number(counts.valid))
    gauge.set({ state: 'invalid' }, Number(counts.invalid))
  })
  return {
    checked: (cause, outcome) => checks.inc({ cause, outcome }),
    turned({ app_id, id, valid, invalid_reason }) {
      if (valid) log.info({ app_id, webhook_id: id }, 'a webhook is valid again')
      else
        log.info(
          { app_id, webhook_id: id, reason: invalid_reason },
          `a webhook became invalid; nothing is sent to it until PUT /2/webhooks/${id} succeeds`
        )
    }
  }
}

const countStates = (db: Db) =>
  db
    .selectFrom('webhooks')
    .select((eb) => [
      eb.fn.countAll<bigint>().filterWhere('valid', '=', true).as('valid'),
      eb.fn.countAll<bigint>().filterWhere('valid', '=', false).as('invalid')
    ])
    .executeTakeFirstOrThrow()
