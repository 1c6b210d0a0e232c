/** Whether criteria may be added to a line item: types, values, operators, limits and what must go together. */
import type { ErrorItem } from '../../errors.ts'
import { invalid, missing, notAllowed, notIn, unexpected } from './problems.ts'
import type { RuleReference } from './reference.ts'
import { OPERATORS, PUBLISHER_EXCLUSIONS_MAX, type TargetingRule, targetingRule } from './targeting.ts'

export interface Criterion {
  targeting_type: string
  targeting_value: string
  operator_type?: string
}

/** The lookups in force. */
export interface TargetingLookups {
  /** Whether a lookup offers the value. */
  has(kind: string, value: string): boolean
  /** Country of a location, if there is such a location. */
  countryOf(location: string): string | undefined
  /** Countries of the markets in which a TV show runs. */
  marketsOf(tvShow: string): readonly string[]
}

export interface CriteriaContext {
  lookups: TargetingLookups
  reference: Pick<RuleReference, 'contentCategories'>
  /** Whether the line item runs in a curated category; it then takes no content categories. */
  curated: boolean
  batch: boolean
}

const operatorOf = (criterion: Criterion) => criterion.operator_type ?? 'EQ'

/**
 * The problems of each added criterion, index-aligned. `existing` are the live criteria of the line item, without those the
 * same batch deletes; later ones may rely on earlier ones.
 */
export function validateCriteria(
  added: readonly Criterion[],
  existing: readonly Criterion[],
  context: CriteriaContext
): ErrorItem[][] {
  const all = [...existing, ...added]
  const counts = new Map<string, number>()
  for (const { targeting_type } of existing) count(counts, targeting_type)
  return added.map((criterion, index) => {
    const rule = targetingRule(criterion.targeting_type)
    const problems = ownProblems(criterion, rule, context)
    if (problems.length > 0 || !rule) return problems
    const used = count(counts, criterion.targeting_type)
    if (rule.max !== undefined && used > rule.max)
      problems.push(tooMany(rule.countedAs ?? criterion.targeting_type, rule.max))
    problems.push(...companyProblems(criterion, rule, all, [...existing, ...added.slice(0, index)], context))
    return problems
  })
}

function count(counts: Map<string, number>, type: string) {
  const key = targetingRule(type)?.countedAs ?? type
  const next = (counts.get(key) ?? 0) + 1
  counts.set(key, next)
  return next
}

const tooMany = (what: string, max: number) =>
  invalid('targeting_type', `A line item may have at most ${max} criteria of ${what}`)

/** What can be said of one criterion alone; the audience estimate asks this too. */
export function ownProblems(
  criterion: Criterion,
  rule: TargetingRule | undefined,
  { lookups, batch }: Pick<CriteriaContext, 'lookups' | 'batch'>
): ErrorItem[] {
  const { targeting_type: type, targeting_value: value } = criterion
  if (!type) return [missing('targeting_type')]
  if (!rule) {
    const message = `"${type.slice(0, 100)}" is not a targeting type`
    return [{ code: 'INVALID_TARGETING_TYPE', message, parameter: 'targeting_type' }]
  }
  if (!value) return [missing('targeting_value')]
  if (rule.batchOnly && !batch) return [notAllowed('targeting_type', `${type} only in a batch`)]
  const operator = operatorOf(criterion)
  const operators: readonly string[] = OPERATORS
  if (!operators.includes(operator)) return [notIn(OPERATORS, operator, 'operator_type')]
  if (!rule.operators.some((one) => one === operator)) return [notIn(rule.operators, operator, 'operator_type')]
  const { values } = rule
  if ('values' in values) return values.values.includes(value) ? [] : [notIn(values.values, value, 'targeting_value')]
  if ('lookup' in values) {
    return lookups.has(values.lookup, value)
      ? []
      : [unexpected(`a value of the ${values.lookup} lookup`, value, 'targeting_value')]
  }
  return values.form.test(value) ? [] : [unexpected(values.what, value, 'targeting_value')]
}

/** What depends on the line item's other criteria: all of them, or those that came before. */
function companyProblems(
  criterion: Criterion,
  rule: TargetingRule,
  all: readonly Criterion[],
  earlier: readonly Criterion[],
  { lookups, reference, curated }: CriteriaContext
): ErrorItem[] {
  const { targeting_type: type, targeting_value: value } = criterion
  if (rule.beside && !all.some((other) => rule.beside?.includes(other.targeting_type))) {
    return [invalid('targeting_type', `${type} needs ${rule.beside.join(' or ')} beside it`)]
  }
  if (type === 'TV_SHOW') return tvShowProblems(value, earlier, lookups)
  if (type === 'IAB_CATEGORY') return contentCategoryProblems(value, all, reference, curated)
  if (type === 'CONTENT_PUBLISHER_USER') {
    const max = PUBLISHER_EXCLUSIONS_MAX[curated ? 'curated' : 'content']
    const used = earlier.filter((other) => other.targeting_type === type).length
    return used >= max ? [tooMany(type, max)] : []
  }
  return []
}

function tvShowProblems(show: string, earlier: readonly Criterion[], lookups: TargetingLookups): ErrorItem[] {
  const countries = earlier
    .filter((other) => other.targeting_type === 'LOCATION' && operatorOf(other) === 'EQ')
    .map((other) => lookups.countryOf(other.targeting_value))
  const markets = lookups.marketsOf(show)
  if (countries.length === 0) {
    const message = `A TV show needs a location in one of its markets (${markets.join(', ')}) first`
    return [{ code: 'INVALID_TV_SHOW_LOCATIONS', message, parameter: 'targeting_value' }]
  }
  if (countries.some((country) => country !== undefined && markets.includes(country))) return []
  const message = `The TV show runs in ${markets.join(', ')}, the line item in ${[...new Set(countries)].join(', ')}`
  return [{ code: 'TV_SHOW_OUTSIDE_MARKET', message, parameter: 'targeting_value' }]
}

/** IAB categories come as the whole set of a content category. */
function contentCategoryProblems(
  value: string,
  all: readonly Criterion[],
  reference: Pick<RuleReference, 'contentCategories'>,
  curated: boolean
): ErrorItem[] {
  if (curated) return [invalid('targeting_type', 'A line item takes either a curated category or content categories')]
  const present = new Set(all.filter((one) => one.targeting_type === 'IAB_CATEGORY').map((one) => one.targeting_value))
  const sets = reference.contentCategories.filter((category) => category.iab_categories.includes(value))
  if (sets.some((category) => category.iab_categories.every((one) => present.has(one)))) return []
  const wanted = sets.map((category) => `${category.name} (${category.iab_categories.length})`).join(' or ')
  return [
    invalid(
      'targeting_value',
      sets.length === 0
        ? `${value} is in no content category`
        : `${value} comes only with the whole content category ${wanted}`
    )
  ]
}
