/** Links to webhooks and what is sent there; why something is not; powerstream rules. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../../test/app.ts'
import { givenWebhook, setValid } from '../../../test/deliveries.ts'
import { type GivenApp, givenApp, givenUser } from '../../../test/given.ts'
import { newId } from '../../storage/ids.ts'

const app = await startApp({ after })
const { database } = app.deps
const admin = { authorization: `Bearer ${app.adminToken}` }

const LINKS = '/2/tweets/search/webhooks'

async function call(method: 'GET' | 'POST' | 'DELETE', url: string, headers: object, payload?: object) {
  const answer = await app.apps.main.inject({
    method,
    url,
    headers: { ...headers },
    ...(payload ? { payload } : {})
  })
  return { status: answer.statusCode, body: answer.json() }
}

async function givenRules({ headers }: GivenApp, ...add: { value: string; tag?: string }[]): Promise<string[]> {
  const { status, body } = await call('POST', '/2/tweets/search/stream/rules', headers, { add })
  assert.equal(status, 201)
  return body.data.map((rule: { id: string }) => rule.id)
}

async function publish(...events: object[]): Promise<string[]> {
  const { status, body } = await call('POST', '/admin/events', admin, { events })
  assert.equal(status, 202, JSON.stringify(body))
  return body.data.map((event: { id: string }) => event.id)
}

const post = (text: string, more: object = {}, includes?: object) => ({
  event_type: 'post.create',
  payload: { id: newId(), text, author_id: '42', ...more },
  ...(includes ? { includes } : {})
})

async function deliveriesOf({ webhook_id }: { webhook_id: string }) {
  const { rows } = await database.pool.query<{ event_id: string; kind: string; body: string }>(
    "select event_id, kind, convert_from(body, 'UTF8') as body from deliveries where webhook_id = $1 order by created_at, id",
    [webhook_id]
  )
  return rows.map((row) => ({ ...row, body: JSON.parse(row.body) }))
}

test('links a webhook with its fields, lists it, and ends the link', async () => {
  const owner = await givenUser(app)
  const given = await givenApp(app, { owner_user_id: owner.id })
  const { webhook_id } = await givenWebhook(database, { app_id: given.id })

  const linked = await call(
    'POST',
    `${LINKS}/${webhook_id}?expansions=author_id&user.fields=username,name`,
    given.headers
  )
  const listed = await call('GET', LINKS, given.headers)
  const also = await call('GET', '/2/tweets/search/stream/webhooks', given.headers)
  const unlinked = await call('DELETE', `${LINKS}/${webhook_id}`, given.headers)
  const again = await call('DELETE', `${LINKS}/${webhook_id}`, given.headers)

  assert.deepEqual([linked.status, linked.body], [200, { data: { provisioned: true } }])
  const [link] = listed.body.data.links
  assert.deepEqual(link, {
    application_id: given.id,
    business_user_id: owner.id,
    created_at: link.created_at,
    fields: ['expansions=author_id', 'user.fields=username,name'],
    instance_id: link.instance_id,
    webhook_id
  })
  assert.deepEqual(also.body, listed.body)
  assert.deepEqual([unlinked.status, unlinked.body], [200, { data: { deleted: true } }])
  assert.deepEqual((await call('GET', LINKS, given.headers)).body, { data: { links: [] } })
  assert.equal(again.status, 400)
  assert.match(again.body.errors[0].message, /^WebhookIdInvalid: webhook \d+ is not linked/)
})

test("refuses webhooks that do not exist or are another app's, and fields that do not exist", async () => {
  const [mine, other] = [await givenApp(app), await givenApp(app)]
  const { webhook_id } = await givenWebhook(database, { app_id: other.id })
  const own = await givenWebhook(database, { app_id: mine.id })

  for (const [method, url, message] of [
    ['POST', `${LINKS}/${webhook_id}`, /^WebhookIdInvalid: /],
    ['DELETE', `${LINKS}/${webhook_id}`, /^WebhookIdInvalid: /],
    ['POST', `${LINKS}/1`, /^WebhookIdInvalid: /],
    ['POST', `${LINKS}/abc`, /webhook_id/],
    ['POST', `${LINKS}/${own.webhook_id}?tweet.fields=nothing`, /tweet\.fields.* is not one of/],
    ['POST', `${LINKS}/${own.webhook_id}?backfill_minutes=1`, /is not one of/]
  ] as const) {
    const { status, body } = await call(method, url, mine.headers)
    assert.equal(status, 400, url)
    assert.match(body.errors[0].message, message)
  }
  for (const [method, url] of [
    ['POST', `${LINKS}/1`],
    ['GET', LINKS],
    ['DELETE', `${LINKS}/1`]
  ] as const)
    assert.equal((await call(method, url, {})).status, 401)
})

test('a post that matches is delivered once to every linked webhook, with its fields and all matching rules', async () => {
  const given = await givenApp(app)
  const other = await givenApp(app)
  const ids = await givenRules(given, { value: 'cat', tag: 'cats' }, { value: 'grey cat' }, { value: 'dog' })
  await givenRules(other, { value: 'dog' })
  const plain = await givenWebhook(database, { app_id: given.id })
  const rich = await givenWebhook(database, { app_id: given.id })
  const unlinked = await givenWebhook(database, { app_id: given.id })
  const others = await givenWebhook(database, { app_id: other.id })
  await call('POST', `${LINKS}/${plain.webhook_id}`, given.headers)
  await call('POST', `${LINKS}/${rich.webhook_id}?tweet.fields=lang&expansions=author_id`, given.headers)
  await call('POST', `${LINKS}/${others.webhook_id}`, other.headers)
  const event = post('a grey cat', { lang: 'en' }, { users: [{ id: '42', name: 'Ann', username: 'ann', url: 'x' }] })

  const [id] = await publish(event, post('a bird'))

  const matching_rules = [{ id: ids[0], tag: 'cats' }, { id: ids[1] }]
  const data = { id: event.payload.id, text: 'a grey cat', edit_history_tweet_ids: [event.payload.id] }
  assert.deepEqual(await deliveriesOf(plain), [
    { event_id: id, kind: 'filtered_stream', body: { data, matching_rules } }
  ])
  assert.deepEqual(await deliveriesOf(rich), [
    {
      event_id: id,
      kind: 'filtered_stream',
      body: {
        data: { ...data, lang: 'en', author_id: '42' },
        includes: { users: [{ id: '42', name: 'Ann', username: 'ann' }] },
        matching_rules
      }
    }
  ])
  assert.deepEqual(await deliveriesOf(unlinked), [])
  assert.deepEqual(await deliveriesOf(others), [])
})

test('nothing is delivered after the rule, the link or the webhook is gone, nor from protected accounts', async () => {
  const given = await givenApp(app)
  const [rule] = await givenRules(given, { value: 'gone' })
  const webhook = await givenWebhook(database, { app_id: given.id })
  const author = await givenUser(app, { protected: true })
  await call('POST', `${LINKS}/${webhook.webhook_id}`, given.headers)

  await publish(post('gone', {}, { users: [{ id: '42', protected: true }] }), post('gone', { author_id: author.id }), {
    event_type: 'post.delete',
    user_id: '42',
    payload: { id: newId(), text: 'gone' }
  })
  await publish(post('gone: the only one'))
  await call('POST', '/2/tweets/search/stream/rules', given.headers, { delete: { ids: [rule] } })
  await publish(post('gone'))
  await givenRules(given, { value: 'gone' })
  await call('DELETE', `${LINKS}/${webhook.webhook_id}`, given.headers)
  await publish(post('gone'))
  await call('POST', `${LINKS}/${webhook.webhook_id}`, given.headers)
  await call('DELETE', `/2/webhooks/${webhook.webhook_id}`, given.headers)
  await publish(post('gone'))

  const sent = await deliveriesOf(webhook)
  assert.deepEqual(
    sent.map(({ body }) => body.data.text),
    ['gone: the only one']
  )
  assert.deepEqual((await call('GET', LINKS, given.headers)).body.data.links, [])
})

test('reposts match by what they repost, and embeddings say how near they came', async () => {
  const given = await givenApp(app)
  await givenRules(given, { value: 'aurora' }, { value: 'embedding:"northern lights over the lake"' })
  const webhook = await givenWebhook(database, { app_id: given.id })
  await call('POST', `${LINKS}/${webhook.webhook_id}`, given.headers)

  await publish(
    post(
      'RT @ann: au…',
      { referenced_tweets: [{ type: 'retweeted', id: '7' }] },
      { tweets: [{ id: '7', text: 'aurora tonight', author_id: '9' }] }
    ),
    post('northern lights over the lake')
  )

  const [repost, near] = await deliveriesOf(webhook)
  assert.equal(repost?.body.matching_rules.length, 1)
  const [scored] = near?.body.matching_rules ?? []
  assert.equal(scored.embedding_threshold, 0.3)
  assert.ok(scored.embedding_similarity > 0.9)
})

test('a post with nonsense beside its text is published and matched by its text', async () => {
  const given = await givenApp(app)
  await givenRules(given, { value: 'sensible' }, { value: '#tag' }, { value: 'url:"example"' })
  const webhook = await givenWebhook(database, { app_id: given.id })
  await call(
    'POST',
    `${LINKS}/${webhook.webhook_id}?expansions=referenced_tweets.id,attachments.media_keys`,
    given.headers
  )

  await publish(
    post('sensible', { entities: { hashtags: [{}, null], urls: 7 } }),
    post('sensible', { context_annotations: [null], attachments: 3, public_metrics: null, geo: [] }, { media: 5 })
  )

  assert.equal((await deliveriesOf(webhook)).length, 2)
})

test('null in a post is the same as nothing', async () => {
  const given = await givenApp(app)
  await givenRules(given, { value: 'plain -is:reply -is:retweet -is:quote' })
  const webhook = await givenWebhook(database, { app_id: given.id })
  await call('POST', `${LINKS}/${webhook.webhook_id}?tweet.fields=lang,in_reply_to_user_id,entities`, given.headers)
  const event = post('plain', { in_reply_to_user_id: null, referenced_tweets: null, lang: null, entities: null })

  await publish(event)

  const [sent] = await deliveriesOf(webhook)
  const { id, text } = event.payload
  assert.deepEqual(sent?.body.data, { id, text, edit_history_tweet_ids: [id] })
})

test('explains why an event did not arrive', async () => {
  const given = await givenApp(app)
  const [matching, failing] = await givenRules(given, { value: 'lake' }, { value: 'lake lang:fi' })
  const [event, other, hidden] = await publish(
    post('at the lake', { lang: 'en' }),
    { event_type: 'profile.update.bio', user_id: '42', payload: { after: 'lake' } },
    post('at the lake', {}, { users: [{ id: '42', protected: true }] })
  )
  const explain = async (rule: unknown, id: unknown) =>
    (await call('GET', `/admin/activity/rules/explain?rule_id=${rule}&event_id=${id}`, admin)).body.data
  const webhook = await givenWebhook(database, { app_id: given.id })

  const nowhere = await explain(matching, event)
  await call('POST', `${LINKS}/${webhook.webhook_id}`, given.headers)
  const fine = await explain(matching, event)
  await setValid(database, webhook, false)
  const invalid = await explain(matching, event)
  const unmatched = await explain(failing, event)
  const [late] = await givenRules(given, { value: 'at the' })

  assert.equal(nowhere.matched, true)
  assert.match(nowhere.reasons.join(), /neither a webhook linked/)
  assert.deepEqual(
    [fine.matched, fine.reasons, fine.links],
    [true, [], [{ webhook_id: webhook.webhook_id, valid: true }]]
  )
  assert.match(invalid.reasons.join(), /is invalid, and nothing is sent to it/)
  assert.equal(unmatched.matched, false)
  assert.deepEqual(
    unmatched.failed.map(({ clause, found }: { clause: string; found: string }) => [clause, found]),
    [['lang:fi', 'en']]
  )
  assert.equal(unmatched.clauses.length, 2)
  assert.match((await explain(matching, other)).reasons.join(), /this event is profile\.update\.bio/)
  assert.match((await explain(matching, hidden)).reasons.join(), /protected account/)
  assert.match((await explain(late, event)).reasons.join(), /after the event was published/)
  for (const query of [`rule_id=1&event_id=${event}`, `rule_id=${matching}&event_id=1`])
    assert.equal((await call('GET', `/admin/activity/rules/explain?${query}`, admin)).status, 404)
  assert.equal((await call('GET', '/admin/activity/rules/explain', given.headers)).status, 403)
})

test('tries a post against a rule or against all rules of an app', async () => {
  const given = await givenApp(app)
  const [cat] = await givenRules(given, { value: 'cat', tag: 'cats' }, { value: 'dog' })
  const tried = (trial: object) => call('POST', '/admin/activity/rules/try', admin, trial)
  const sample = { id: '1', text: 'a cat' }

  const rule = await tried({ value: 'cat -grey', post: sample })
  const not = await tried({ value: 'cat grey', post: sample })
  const faulty = await tried({ value: 'cat (dog', post: sample })
  const all = await tried({ app_id: given.id, post: sample })
  const none = await tried({ app_id: given.id, post: { id: '1', text: 'a bird' } })

  assert.equal(rule.body.data.matched, true)
  assert.equal(not.body.data.matched, false)
  assert.deepEqual(
    not.body.data.failed.map(({ clause }: { clause: string }) => clause),
    ['grey']
  )
  assert.equal(faulty.body.data.valid, false)
  assert.equal(typeof faulty.body.data.errors[0].position, 'number')
  assert.deepEqual(all.body.data, { valid: true, matched: true, matching_rules: [{ id: cat, tag: 'cats' }] })
  assert.deepEqual(none.body.data, { valid: true, matched: false, matching_rules: [] })
  assert.equal((await tried({ post: sample })).status, 400)
  assert.equal((await tried({ value: 'a', app_id: '1', post: sample })).status, 400)
})

test('keeps powerstream rules apart from those of the filtered stream', async () => {
  const given = await givenApp(app)
  const url = '/2/powerstream/rules'

  const empty = await call('GET', url, given.headers)
  const added = await call('POST', url, given.headers, {
    rules: [{ value: 'cat', tag: 'cats' }, { value: 'dog' }, { value: 'dog' }, { value: '(' }]
  })
  const [cat, dog] = added.body.data.rules
  const listed = await call('GET', url, given.headers)
  const deleted = await call('DELETE', url, given.headers, {
    rules: [{ id: cat.id }, { value: 'dog' }, { value: 'x' }]
  })

  assert.deepEqual(empty.body, { data: { rules: [] } })
  assert.equal(added.status, 201)
  assert.deepEqual(cat, { id: cat.id, value: 'cat', tag: 'cats' })
  assert.deepEqual(
    added.body.errors.map(({ title }: { title: string }) => title),
    ['UnprocessableEntity', 'DuplicateRule']
  )
  assert.equal(added.body.errors[1].id, dog.id)
  assert.deepEqual(listed.body.data.rules, [dog, cat])
  assert.deepEqual(deleted.body, { data: { deleted: 2, not_deleted: 1 } })
  assert.deepEqual((await call('GET', url, given.headers)).body, { data: { rules: [] } })
  assert.equal((await call('GET', '/2/tweets/search/stream/rules', given.headers)).body.meta.result_count, 0)
})
