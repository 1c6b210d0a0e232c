/** Money: which amounts apply where, and in which steps. Amounts are exact integers in micro units. */
import type { ErrorItem } from '../../errors.ts'
import type { BiddingRule } from '../reference/types.ts'
import { invalid, unexpected } from './problems.ts'

export const BUDGET_OPTIMIZATIONS = ['CAMPAIGN', 'LINE_ITEM'] as const

/** By type: whether a campaign needs a daily budget, and which amounts the instrument itself has. See decisions/0052. */
export const FUNDING_TYPES = {
  AGENCY_CREDIT_LINE: { dailyBudget: true, creditLimit: false, fundedAmount: false, creditRemaining: true },
  CREDIT_CARD: { dailyBudget: true, creditLimit: true, fundedAmount: false, creditRemaining: false },
  CREDIT_LINE: { dailyBudget: true, creditLimit: true, fundedAmount: false, creditRemaining: true },
  INSERTION_ORDER: { dailyBudget: false, creditLimit: false, fundedAmount: true, creditRemaining: false },
  PARTNER_MANAGED: { dailyBudget: false, creditLimit: false, fundedAmount: false, creditRemaining: false }
} as const

export type FundingType = keyof typeof FUNDING_TYPES
export const FUNDING_TYPE_NAMES = Object.keys(FUNDING_TYPES) as FundingType[]

export const fundingRule = (type: string) =>
  Object.hasOwn(FUNDING_TYPES, type) ? FUNDING_TYPES[type as FundingType] : undefined

/** Under CAMPAIGN the campaign has the budgets and the pacing, under LINE_ITEM its line items. */
export const BUDGETS_LIVE_ON = {
  CAMPAIGN: { campaignDailyRequired: true, campaignDelivery: true, lineItemBudgets: false, lineItemDelivery: false },
  LINE_ITEM: { campaignDailyRequired: false, campaignDelivery: false, lineItemBudgets: true, lineItemDelivery: true }
} as const

export const budgetsLiveOn = (optimization: string) =>
  BUDGETS_LIVE_ON[optimization === 'LINE_ITEM' ? 'LINE_ITEM' : 'CAMPAIGN']

/** Above zero and a multiple of the currency's smallest unit. */
export function amountProblems(amount: bigint | null, parameter: string, rule: BiddingRule | undefined): ErrorItem[] {
  if (amount === null) return []
  if (amount <= 0n) return [unexpected('a value above 0', amount, parameter)]
  if (rule && amount % BigInt(rule.minimum_denomination) !== 0n) {
    const what = `a multiple of ${rule.minimum_denomination} (the smallest unit of ${rule.currency})`
    return [{ ...unexpected(what, amount, parameter), code: 'INVALID_DENOMINATION' }]
  }
  return []
}

export function bidProblems(bid: bigint, parameter: string, rule: BiddingRule | undefined): ErrorItem[] {
  const problems = amountProblems(bid, parameter, rule)
  if (problems.length > 0 || !rule) return problems
  const { minimum_cpe_bid_local_micro: lowest, maximum_cpe_bid_local_micro: highest, currency } = rule
  return bid < lowest || bid > highest
    ? [unexpected(`a bid between ${lowest} and ${highest} for ${currency}`, bid, parameter)]
    : []
}

interface Budgets {
  daily_budget_amount_local_micro: bigint | null
  total_budget_amount_local_micro: bigint | null
}

export function budgetProblems(budgets: Budgets, spend: bigint, rule: BiddingRule | undefined): ErrorItem[] {
  const { daily_budget_amount_local_micro: daily, total_budget_amount_local_micro: total } = budgets
  const problems = [
    ...amountProblems(daily, 'daily_budget_amount_local_micro', rule),
    ...amountProblems(total, 'total_budget_amount_local_micro', rule)
  ]
  if (daily !== null && total !== null && daily > total) {
    problems.push(
      invalid(
        'daily_budget_amount_local_micro',
        `The daily budget ${daily} exceeds the total budget ${total}`,
        'SPEND_EXCEEDS_BUDGET'
      )
    )
  }
  if (total !== null && total > 0n && total < spend) {
    problems.push(
      invalid(
        'total_budget_amount_local_micro',
        `The total budget ${total} is below the ${spend} already spent`,
        'SPEND_EXCEEDS_BUDGET'
      )
    )
  }
  return problems
}
