import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { EXPLANATIONS } from './rules/reasons.ts'
import { campaignServability, FUNDING_REASONS, neverFundsAgain, SERVING_REASONS } from './rules/statuses.ts'

async function rowsOf(page: string) {
  const text = await readFile(path.join(import.meta.dirname, '../../docs/states', page), 'utf8')
  return text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| Reason'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim())
    )
}

const ids = { account_id: 'a', funding_instrument_id: 'f', campaign_id: 'c', line_item_id: 'l' }
const instrument = {
  deleted: false,
  entity_status: 'ACTIVE',
  type: 'CREDIT_CARD',
  start_time: '2020-01-01T00:00:00Z',
  end_time: null,
  credit_limit_local_micro: null,
  funded_amount_local_micro: null
}
const counts = {
  live: 1,
  complete: 1,
  serving: 1,
  paused: 0,
  ended: 0,
  startsLater: 0,
  exhausted: 0,
  rejected: 0,
  underReview: 0
}
const serving = {
  deleted: false,
  entity_status: 'ACTIVE',
  total_budget_amount_local_micro: null,
  account: { approval_status: 'ACCEPTED' },
  fundingInstrument: instrument,
  lineItems: counts
}
/** A campaign that has each reason and no other. */
const having: Record<string, object> = {
  PAUSED_BY_ADVERTISER: { entity_status: 'PAUSED' },
  AWAITING_APPROVAL_BY_ADVERTISER: { entity_status: 'DRAFT' },
  INCOMPLETE: { lineItems: { ...counts, live: 0, complete: 0, serving: 0 } },
  FUNDING_PROBLEM: { fundingInstrument: { ...instrument, deleted: true } },
  EXPIRED: { lineItems: { ...counts, serving: 0, ended: 1 } },
  STARTS_IN_FUTURE: { lineItems: { ...counts, serving: 0, startsLater: 1 } },
  BUDGET_EXHAUSTED: { total_budget_amount_local_micro: 1n, spend_local_micro: 1n },
  CONTENT_REVIEW_PROBLEM: { lineItems: { ...counts, serving: 0, rejected: 1 } },
  ACCOUNT_REJECTED: { account: { approval_status: 'REJECTED' } },
  ACCOUNT_UNDER_REVIEW: { account: { approval_status: 'UNDER_REVIEW' } }
}

test('docs/states/campaign.md shows exactly the reasons of the code, and what mends them', async () => {
  const fromCode = Object.entries(EXPLANATIONS).map(([key, [, mend]]) => {
    const [reason = '', entity = '', variant = ''] = key.split(' ')
    const { effective_status, reasons_not_servable } = campaignServability(
      { ...serving, ...having[reason] },
      Date.UTC(2026, 0)
    )
    assert.deepEqual(reasons_not_servable, [reason])
    const call = mend(ids)
    const mended = call ? `${call.method} ${call.path.split('/')[4]}` : 'time or the operator'
    return [reason, entity, variant, effective_status, mended]
  })
  const order = (rows: string[][]) =>
    rows.toSorted((a, b) => SERVING_REASONS.indexOf(a[0] as never) - SERVING_REASONS.indexOf(b[0] as never))

  assert.deepEqual(await rowsOf('campaign.md'), order(fromCode))
})

test('docs/states/funding-instrument.md shows exactly the reasons of the code', async () => {
  const rows = await rowsOf('funding-instrument.md')

  assert.deepEqual(
    rows.map(([reason, , final]) => [reason, final]),
    FUNDING_REASONS.map((reason) => [reason, neverFundsAgain(reason) ? 'yes' : 'no'])
  )
})
