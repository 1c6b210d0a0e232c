import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../../test/app.ts'
import { type GivenApp, givenApp } from '../../../test/given.ts'
import { newId } from '../../storage/ids.ts'

const app = await startApp({ after }, { HERALD_RULES_PER_APP_MAX: '30000', HERALD_RULES_PER_PROJECT_MAX: '30000' })

const RULES = '/2/tweets/search/stream/rules'

function calls({ headers }: GivenApp) {
  const call = async (method: 'GET' | 'POST', url: string, payload?: object) => {
    const answer = await app.apps.main.inject({ method, url, headers, ...(payload ? { payload } : {}) })
    return { status: answer.statusCode, body: answer.json() }
  }
  return {
    list: (query = '') => call('GET', RULES + query),
    counts: (query = '') => call('GET', `${RULES}/counts${query}`),
    change: (payload?: object, query = '') => call('POST', RULES + query, payload),
    async add(...values: string[]) {
      const { status, body } = await call('POST', RULES, { add: values.map((value) => ({ value })) })
      assert.equal(status, 201)
      return body.data.map((rule: { id: string }) => rule.id) as string[]
    }
  }
}

test('adds rules and lists them, newest first, with their tags', async () => {
  const { list, change } = calls(await givenApp(app))

  const added = await change({ add: [{ value: 'cat has:images', tag: 'cats' }, { value: 'dog' }] })
  const listed = await list()

  assert.equal(added.status, 201)
  assert.deepEqual(added.body.meta.summary, { created: 2, not_created: 0, valid: 2, invalid: 0 })
  assert.match(added.body.meta.sent, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepEqual(added.body.data[0], { value: 'cat has:images', tag: 'cats', id: added.body.data[0].id })
  assert.equal(added.body.errors, undefined)
  assert.equal(listed.status, 200)
  assert.deepEqual(listed.body.data, [...added.body.data].reverse())
  assert.equal(listed.body.meta.result_count, 2)
})

test('leaves out data when there is none', async () => {
  const { list } = calls(await givenApp(app))

  const { status, body } = await list()

  assert.equal(status, 200)
  assert.ok(!('data' in body))
  assert.equal(body.meta.result_count, 0)
})

test('judges every rule on its own: duplicates with their id, mistakes with their positions', async () => {
  const { add, change } = calls(await givenApp(app))
  const [cat] = await add('cat')

  const { status, body } = await change({
    add: [
      { value: 'cat', tag: 'again' },
      { value: 'has:polls' },
      { value: 'bird' },
      { value: 'bird' },
      { value: 'a OR' }
    ]
  })

  assert.equal(status, 201)
  assert.deepEqual(
    body.data.map((rule: { value: string }) => rule.value),
    ['bird']
  )
  assert.deepEqual(body.meta.summary, { created: 1, not_created: 4, valid: 1, invalid: 4 })
  const [duplicate, invalid, twin, syntax] = body.errors
  assert.deepEqual(duplicate, {
    value: 'cat',
    id: cat,
    title: 'DuplicateRule',
    type: 'https://herald.example/problems/duplicate-rules'
  })
  assert.equal(invalid.value, 'has:polls')
  assert.equal(invalid.title, 'UnprocessableEntity')
  assert.equal(invalid.type, 'https://herald.example/problems/invalid-rules')
  assert.match(invalid.details[0], /standalone operator \(at position 1\)/)
  assert.deepEqual([twin.value, twin.id], ['bird', body.data[0].id])
  assert.match(syntax.details[0], /position/)
})

test('answers 201 without data when no rule is good', async () => {
  const { change } = calls(await givenApp(app))

  const { status, body } = await change({ add: [{ value: '-cat' }] })

  assert.equal(status, 201)
  assert.ok(!('data' in body))
  assert.equal(body.errors.length, 1)
})

test('takes a rule of 2,048 characters and refuses one of 2,049', async () => {
  const { change } = calls(await givenApp(app))
  const words = (length: number) => `"${'é'.repeat(length - 2)}"`

  const { body } = await change({ add: [{ value: words(2_048) }, { value: words(2_049) }] })

  assert.equal(body.meta.summary.created, 1)
  assert.deepEqual(body.errors[0].details, ['Rule is 2049 characters long, the maximum is 2048'])
})

test('changes nothing in a dry run, but answers as if it had', async () => {
  const { add, change, list } = calls(await givenApp(app))
  await add('cat')

  const added = await change({ add: [{ value: 'dog' }, { value: 'cat' }] }, '?dry_run=true')
  const deleted = await change({ delete: { values: ['cat', 'dog'] } }, '?dry_run=true')
  const all = await change(undefined, '?dry_run=true&delete_all=true')

  assert.equal(added.status, 201)
  assert.deepEqual(added.body.meta.summary, { created: 1, not_created: 1, valid: 1, invalid: 1 })
  assert.deepEqual(deleted.body.meta.summary, { deleted: 1, not_deleted: 1 })
  assert.deepEqual(all.body.meta.summary, { deleted: 1, not_deleted: 0 })
  assert.equal((await list()).body.meta.result_count, 1)
})

test('deletes by id or by value, and says what was not there', async () => {
  const { add, change, list } = calls(await givenApp(app))
  const [cat] = await add('cat', 'dog', 'bird')

  const byId = await change({ delete: { ids: [cat, '1'] } })
  const byValue = await change({ delete: { values: ['dog'] } })

  assert.equal(byId.status, 200)
  assert.deepEqual(byId.body.meta.summary, { deleted: 1, not_deleted: 1 })
  assert.deepEqual(byId.body.errors[0].errors, [{ message: 'Rule does not exist', parameters: { id: ['1'] } }])
  assert.deepEqual(byValue.body.meta.summary, { deleted: 1, not_deleted: 0 })
  assert.equal(byValue.body.errors, undefined)
  assert.deepEqual(
    (await list()).body.data.map((rule: { value: string }) => rule.value),
    ['bird']
  )
})

test('deletes all rules of the app and none of another', async () => {
  const [mine, other] = [calls(await givenApp(app)), calls(await givenApp(app))]
  await mine.add('cat', 'dog')
  await other.add('cat')

  const { status, body } = await mine.change(undefined, '?delete_all=true')

  assert.equal(status, 200)
  assert.deepEqual(body.meta.summary, { deleted: 2, not_deleted: 0 })
  assert.ok(!('data' in (await mine.list()).body))
  assert.equal((await other.list()).body.meta.result_count, 1)
})

test("cannot delete another app's rule", async () => {
  const [mine, other] = [calls(await givenApp(app)), calls(await givenApp(app))]
  const ids = await other.add('cat')

  const { body } = await mine.change({ delete: { ids } })

  assert.deepEqual(body.meta.summary, { deleted: 0, not_deleted: 1 })
  assert.equal((await other.list()).body.meta.result_count, 1)
})

test('refuses requests that ask for nothing, for two things, or for something else', async () => {
  const { change, list } = calls(await givenApp(app))

  for (const [payload, query] of [
    [undefined, ''],
    [{}, ''],
    [{ add: [{ value: 'a' }], delete: { ids: ['1'] } }, ''],
    [{ add: [{ value: 'a' }] }, '?delete_all=true'],
    [{ delete: {} }, ''],
    [{ delete: { ids: ['1'], values: ['a'] } }, ''],
    [{ add: [] }, ''],
    [{ add: [{ value: 1 }] }, ''],
    [{ add: [{ value: 'a', other: 1 }] }, ''],
    [{ remove: {} }, ''],
    [{ add: [{ value: 'a' }] }, '?dry_run=maybe']
  ] as const) {
    const { status, body } = await change(payload, query)
    assert.equal(status, 400, JSON.stringify([payload, query, body]))
    assert.equal(body.type, 'https://herald.example/problems/invalid-request')
  }
  for (const query of ['?max_results=0', '?max_results=1001', '?ids=x', '?pagination_token=short', '?page=1'])
    assert.equal((await list(query)).status, 400, query)
})

test('finds rules by ids and pages through them with 16-character tokens', async () => {
  const { add, list } = calls(await givenApp(app))
  const ids = await add('r1', 'r2', 'r3', 'r4', 'r5')

  const some = await list(`?ids=${ids[1]},${ids[3]},${newId()}`)
  const first = await list('?max_results=2')
  const second = await list(`?max_results=2&pagination_token=${first.body.meta.next_token}`)
  const third = await list(`?max_results=2&pagination_token=${second.body.meta.next_token}`)

  const idsOf = ({ body }: { body: { data: { id: string }[] } }) => body.data.map(({ id }) => id)
  assert.deepEqual(idsOf(some), [ids[3], ids[1]])
  assert.match(first.body.meta.next_token, /^[0-9a-v]{16}$/)
  assert.deepEqual([...idsOf(first), ...idsOf(second), ...idsOf(third)], [...ids].reverse())
  assert.equal(third.body.meta.next_token, undefined)
})

test('adds nothing at all when the cap of the app or of the project would be passed', async () => {
  const project_id = newId()
  const one = await givenApp(app, { project_id, quotas: { rules: 3, project_rules: 4 } })
  const two = await givenApp(app, { project_id, quotas: { project_rules: 4 } })
  await calls(one).add('r1', 'r2')

  const ofApp = await calls(one).change({ add: [{ value: 'r3' }, { value: 'r4' }] })
  const ofProject = await calls(two).change({ add: [{ value: 'r1' }, { value: 'r2' }, { value: 'r3' }] })
  const dry = await calls(two).change({ add: [{ value: 'r1' }, { value: 'r2' }, { value: 'r3' }] }, '?dry_run=true')
  const fits = await calls(one).change({ add: [{ value: 'r1' }, { value: 'r2' }, { value: 'r3' }] })

  for (const { status, body } of [ofApp, ofProject, dry]) {
    assert.equal(status, 422)
    assert.equal(body.title, 'RulesCapExceeded')
    assert.equal(body.type, 'https://herald.example/problems/rule-cap')
  }
  assert.match(ofApp.body.detail, /this app may have 3 rules and has 2/)
  assert.match(ofProject.body.detail, /this project may have 4 rules and has 2/)
  assert.ok(!('data' in (await calls(two).list()).body))
  assert.equal(fits.body.meta.summary.created, 1)
})

test('keeps the cap when many add at once', async () => {
  const given = await givenApp(app, { quotas: { rules: 5 } })

  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => calls(given).change({ add: [{ value: `word${n}` }] }))
  )

  assert.equal(answers.filter(({ status }) => status === 201).length, 5)
  assert.equal(answers.filter(({ status }) => status === 422).length, 7)
  assert.equal((await calls(given).counts()).body.data.client_app_rules_count.rule_count, 5)
})

test('counts rules by app and project', async () => {
  const project_id = newId()
  const one = await givenApp(app, { project_id, quotas: { rules: 1_000 } })
  const two = await givenApp(app, { project_id })
  await calls(one).add('cat', 'dog')
  await calls(two).add('bird')
  await calls(one).change({ delete: { values: ['dog'] } })

  const { status, body } = await calls(one).counts()
  const some = await calls(one).counts('?rules_count.fields=project_rules_count,cap_per_project')

  assert.equal(status, 200)
  assert.deepEqual(body.data, {
    cap_per_client_app: 1_000,
    cap_per_project: 30_000,
    project_rules_count: 2,
    client_app_rules_count: { client_app_id: one.id, rule_count: 1 },
    all_project_client_apps: [
      { client_app_id: one.id, rule_count: 1 },
      { client_app_id: two.id, rule_count: 1 }
    ]
  })
  assert.deepEqual(some.body.data, { project_rules_count: 2, cap_per_project: 30_000 })
})

test('needs an app-only token', async () => {
  for (const [method, url] of [
    ['GET', RULES],
    ['POST', RULES],
    ['GET', `${RULES}/counts`]
  ] as const) {
    const answer = await app.apps.main.inject({ method, url })
    assert.equal(answer.statusCode, 401)
  }
})

test('takes 25,000 rules in calls of 5,000, and the last one costs what the first did', async () => {
  const given = await givenApp(app)
  const { change, counts } = calls(given)
  const timed = async (add: { value: string }[]) => {
    const began = performance.now()
    const { status } = await change({ add })
    assert.equal(status, 201)
    return performance.now() - began
  }
  const ones = async (name: string) => {
    const times: number[] = []
    for (let n = 0; n < 7; n++) times.push(await timed([{ value: `${name}${n} lang:en` }]))
    return times.sort((a, b) => a - b)[3] as number
  }

  const first = await ones('first')
  for (let call = 0; call < 5; call++)
    await timed(Array.from({ length: 5_000 }, (_, n) => ({ value: `word${call * 5_000 + n} -noise${n % 7}` })))
  const last = await ones('last')

  assert.equal((await counts()).body.data.client_app_rules_count.rule_count, 25_014)
  // The same but for what a busy machine does to a few milliseconds.
  assert.ok(last < first * 3 + 15, `the first rule took ${first} ms, the 25,000th ${last} ms`)
})
