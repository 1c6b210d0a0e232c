import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import { givenUserToken } from '../../test/given.ts'
import { startReceiving } from '../../test/given-activity.ts'
import { createUser } from '../identity/index.ts'
import { type Example, eventExamples } from './event-examples.ts'
import { EVENT_TYPES } from './event-types.ts'
import { derivedAccountActivity, derivedActivity, printEvents, publishedExample } from './events-page.ts'

const page = await readFile(path.resolve(import.meta.dirname, '../../docs/events.md'), 'utf8')

test('docs/events.md is what the code prints', () => {
  assert.equal(page, printEvents(), 'npm run check -- --fix writes it')
})

test('every type has an example, and every example on the page is JSON of its type', () => {
  const sections = page.split(/^## /m).slice(1)

  assert.deepEqual(
    sections.map((section) => section.split('\n', 1)[0]),
    EVENT_TYPES.map(({ name }) => name)
  )
  for (const section of sections) {
    const [example] = [...section.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json]) => JSON.parse(json!))
    assert.equal(example.event_type, section.split('\n', 1)[0])
  }
})

test('publishing the examples delivers what the page says, to whom it says', async () => {
  const given = await startReceiving({ after })
  const { app, call, publish } = given
  const { by, webhook } = await given.appWithWebhook()
  const accounts = await given.webhook(by)
  const now = new Date(app.deps.clock.now())
  for (const [id, username] of [
    ['42', 'ann'],
    ['43', 'bob']
  ] as const) {
    const token = await givenUserToken(app, by, await createUser(app.deps.database.db, { id, username }, now))
    const account = await call('POST', `/2/account_activity/webhooks/${accounts.id}/subscriptions/all`, token)
    assert.equal(account.status, 200)
    for (const { name, filter } of EVENT_TYPES) {
      if (filter === 'keyword' && id === '43') continue
      const { status, body } = await call('POST', '/2/activity/subscriptions', token, {
        event_type: name,
        filter: filter === 'keyword' ? { keyword: 'tacos' } : { user_id: id },
        webhook_id: webhook.id
      })
      assert.equal(status, 200, JSON.stringify(body))
    }
  }
  const examples = eventExamples()

  const published = await publish(...examples)

  const events = examples.map((example: Example, i) => publishedExample(example, published[i]!.id))
  const once = (bodies: string[]) => [...new Set(bodies)].sort()
  assert.deepEqual(
    webhook.texts().sort(),
    once(events.flatMap(derivedActivity).map(({ body }) => JSON.stringify(body)))
  )
  assert.deepEqual(accounts.texts().sort(), once(events.flatMap(derivedAccountActivity).map(({ body }) => body)))
})
