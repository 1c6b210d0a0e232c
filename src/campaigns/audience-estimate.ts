/** Audience estimate: how many people a set of targeting criteria reaches. */
import path from 'node:path'
import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import { ApiError } from '../errors.ts'
import type { AdsScope } from '../http/ads.ts'
import { json, Refused, required } from '../http/ads-input.ts'
import { audienceProblems, CRITERIA_MAX } from './audience/estimate.ts'
import { type Audience, createAudience } from './audience/store.ts'
import { readReference } from './reference/load.ts'
import type { Reference, ReferenceStore } from './reference-store.ts'
import type { Criterion } from './rules/criteria.ts'
import { statusOf } from './rules/problems.ts'
import { Entity, Int } from './wire.ts'

const CHANNEL = 'audience'
type Read = typeof readReference

const audienceOf = ({ config, log }: Pick<Deps, 'config' | 'log'>, read: Read) =>
  createAudience({
    dir: path.join(config.HERALD_DATA_DIR, 'audience'),
    read,
    generate: { people: config.HERALD_AUDIENCE_PEOPLE },
    onWarning: (error) => log.warn({ err: error }, 'the population could not be kept; it will be made again')
  })

export interface AudienceEstimates {
  estimate(criteria: readonly Criterion[], reference: Reference): ReturnType<Audience['estimate']>
  close(): void
}

/** Estimates among the people of the reference rows in force, and of whatever was imported last. */
export function createAudienceEstimates(deps: Deps): AudienceEstimates {
  let inForce: Reference | undefined
  const audience = audienceOf(deps, ((kind) => inForce!.rows(kind)) as Read)
  const stop = deps.listener.on(CHANNEL, () => audience.reload())
  return {
    estimate(criteria, reference) {
      if (inForce !== undefined && inForce !== reference) audience.reload()
      inForce = reference
      return audience.estimate(criteria)
    },
    close: stop
  }
}

/** Replaces the population by the people of an NDJSON file, or with null by the generated one; every node hears of it. */
export async function importAudience(deps: Pick<Deps, 'config' | 'log' | 'database'>, file: string | null) {
  const audience = audienceOf(deps, readReference)
  const population = file === null ? await audience.forgetImported() : await audience.importFile(file)
  await sql`select pg_notify(${CHANNEL}, '')`.execute(deps.database.db)
  return population ? { people: population.people, held: population.held } : undefined
}

/** The array as it came; what is wrong with single criteria is told by the rules. */
function criteria(raw: unknown, name: string): Criterion[] {
  if (!Array.isArray(raw)) throw new Refused(`Expected a JSON array of criteria for ${name}`)
  return raw.map((each: unknown, index) => {
    if (typeof each !== 'object' || each === null || Array.isArray(each)) {
      throw new Refused(`Expected an object with targeting_type and targeting_value for ${name}[${index}]`)
    }
    const { targeting_type, targeting_value, operator_type } = each as Record<string, unknown>
    const text = (value: unknown) => (['string', 'number', 'bigint'].includes(typeof value) ? String(value) : '')
    return {
      targeting_type: text(targeting_type),
      targeting_value: text(targeting_value),
      ...(operator_type == null || operator_type === '' ? {} : { operator_type: text(operator_type) })
    }
  })
}

const criterionSchema = {
  type: 'object',
  required: ['targeting_type', 'targeting_value'],
  properties: {
    targeting_type: { type: 'string' },
    targeting_value: { type: 'string' },
    operator_type: { type: 'string', enum: ['EQ', 'NE'], default: 'EQ' }
  }
}

export function audienceEstimateRoutes(scope: AdsScope, reference: ReferenceStore, audience: AudienceEstimates) {
  scope.route({
    method: 'POST',
    path: '/accounts/:account_id/audience_estimate',
    summary: 'How many people the criteria reach, between min and max; at least one of them must be primary.',
    input: {
      targeting_criteria: required(json({ type: 'array', items: criterionSchema, maxItems: CRITERIA_MAX }, criteria))
    },
    output: Entity({ audience_size: Entity({ min: Int, max: Int }) }),
    operation: 'campaigns.read',
    readOnly: true,
    // As published: the criteria are not repeated.
    echo: (_params, { account_id }) => ({ targeting_criteria: null, account_id }),
    handler: async ({ input }) => {
      const inForce = await reference.load()
      const problems = audienceProblems(input.targeting_criteria, inForce.lookups)
      if (problems.length > 0) throw new ApiError(statusOf(problems), problems)
      const { min, max } = await audience.estimate(input.targeting_criteria, inForce)
      return { audience_size: { min, max } }
    }
  })
}
