/** What a funding instrument of the sandbox may look like. */
import type { ErrorItem } from '../../errors.ts'
import { amountProblems, FUNDING_TYPE_NAMES, fundingRule } from './budgets.ts'
import { missing, notAllowed, notIn, unexpected } from './problems.ts'
import type { RuleReference } from './reference.ts'

export interface FundingInstrumentInput {
  currency?: string | null
  start_time?: string | null
  end_time?: string | null
  type?: string | null
  credit_limit_local_micro?: bigint | null
  funded_amount_local_micro?: bigint | null
}

export function validateFundingInstrument(input: FundingInstrumentInput, reference: RuleReference): ErrorItem[] {
  const problems = (['currency', 'start_time', 'type'] as const).filter((key) => !input[key]).map(missing)
  const { currency, start_time, end_time, type } = input
  const bidding = reference.biddingRules.get(currency ?? '')
  if (currency && !bidding)
    problems.push(unexpected('an ISO 4217 currency code of the bidding rules', currency, 'currency'))
  const rule = fundingRule(type ?? '')
  if (type && !rule) problems.push(notIn(FUNDING_TYPE_NAMES, type, 'type'))
  if (start_time && end_time && Date.parse(end_time) <= Date.parse(start_time)) {
    const message = `end_time ${end_time} is not after start_time ${start_time}`
    problems.push({ code: 'INVALID_TIME_WINDOW', message, parameter: 'end_time' })
  }
  const amounts = [
    ['credit_limit_local_micro', rule?.creditLimit],
    ['funded_amount_local_micro', rule?.fundedAmount]
  ] as const
  for (const [name, applies] of amounts) {
    const amount = input[name] ?? null
    if (amount !== null && rule && !applies) problems.push(notAllowed(name, `it does not apply to ${type}`))
    else problems.push(...amountProblems(amount, name, bidding))
  }
  return problems
}
