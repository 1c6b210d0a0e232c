import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../../../test/database.ts'
import { givenApp } from '../../../test/deliveries.ts'
import { systemClock } from '../../clock.ts'
import type { PrincipalApp } from '../../identity/principal.ts'
import { openDatabase } from '../../storage/db.ts'
import { newId } from '../../storage/ids.ts'
import { createListener } from '../../storage/listen.ts'
import { silentLog } from '../../storage/log.ts'
import { PostView } from '../rules/index.ts'
import { createRuleSet, type RuleSet } from './rule-set.ts'
import { addRules, deleteRules } from './rules.ts'

const { database, url } = await testDatabase({ after })
const cleanups: (() => unknown)[] = []
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

/** The rules of one node, with a listener of its own. */
function givenNode() {
  const listener = createListener(database)
  const ruleSet = createRuleSet({ database, listener, log: silentLog })
  cleanups.push(
    () => listener.close(),
    () => ruleSet.stop()
  )
  return ruleSet
}

async function givenRules(ruleSet: RuleSet) {
  const app = { id: await givenApp(database), project_id: null, quotas: {} } as unknown as PrincipalApp
  const deps = {
    db: database.db,
    clock: systemClock,
    ruleSet,
    problemTypeBase: '',
    perAppMax: 100_000,
    perProjectMax: 100_000,
    charactersMax: 2_048
  }
  return {
    app,
    add: async (...values: string[]) => {
      const { data } = await addRules(
        deps,
        app,
        values.map((value) => ({ value })),
        false
      )
      return data.map(({ id }) => id)
    },
    remove: (...ids: string[]) => deleteRules(deps, app, { ids }, false)
  }
}

const matched = (ruleSet: RuleSet, text: string) =>
  [...ruleSet.match(new PostView({ id: '1', text })).values()].flat().map(({ id }) => id)

test('holds every rule there is when it is ready, and follows every change', async () => {
  const ruleSet = givenNode()
  const { add, remove } = await givenRules(ruleSet)
  const [cat] = await add('cat')

  await Promise.all([ruleSet.ready(), ruleSet.ready()])
  const atFirst = matched(ruleSet, 'cat dog')
  const [dog] = await add('dog')
  const withDog = matched(ruleSet, 'cat dog')
  await remove(cat as string)

  assert.deepEqual(atFirst, [cat])
  assert.deepEqual(withDog, [cat, dog])
  assert.deepEqual(matched(ruleSet, 'cat dog'), [dog])
})

test('publishers that hold every connection of the pool do not keep rules from being loaded', async () => {
  const small = openDatabase({ url, connectionsMax: 1 })
  const listener = createListener(small)
  const ruleSet = createRuleSet({ database: small, listener, log: silentLog })
  cleanups.push(
    () => small.close(),
    () => listener.close(),
    () => ruleSet.stop()
  )
  const [owl] = await (await givenRules(ruleSet)).add('owl')

  const found = await small.db.transaction().execute(async () => {
    await ruleSet.ready()
    return matched(ruleSet, 'owl')
  })

  assert.deepEqual(found, [owl])
})

test('does not miss a change whose transaction began early and was committed late', async () => {
  const ruleSet = givenNode()
  const { app } = await givenRules(ruleSet)
  await ruleSet.ready()
  const late = await database.pool.connect()
  const id = newId()
  await late.query('begin')
  await late.query(
    "insert into filtered_rules (app_id, id, value, value_hash, created_at) values ($1, $2, 'heron', '\\x00', now())",
    [app.id, id]
  )
  await late.query('insert into filtered_rule_changes (app_id, rule_id) values ($1, $2)', [app.id, id])
  const { add } = await givenRules(ruleSet)
  const [stork] = await add('stork')
  await ruleSet.refresh()
  const before = matched(ruleSet, 'heron stork')

  await late.query('commit')
  late.release()
  await ruleSet.refresh()

  assert.deepEqual(before, [stork])
  assert.deepEqual(matched(ruleSet, 'heron stork'), [id, stork].sort())
})

test('other nodes hear of a change by themselves', async () => {
  const [one, two] = [givenNode(), givenNode()]
  const { add } = await givenRules(one)
  await Promise.all([one.ready(), two.ready()])

  const [crane] = await add('crane')
  while (matched(two, 'crane').length === 0) await new Promise((resolve) => setTimeout(resolve, 2))

  assert.deepEqual(matched(two, 'crane'), [crane])
})

test('rules of an app that is deleted leave the engines of all nodes', async () => {
  const [one, two] = [givenNode(), givenNode()]
  const { app, add } = await givenRules(one)
  const { add: addOther } = await givenRules(one)
  await Promise.all([one.ready(), two.ready()])
  const before = two.size
  await add('ibis', 'ibis egret')
  const [stays] = await addOther('ibis')
  while (two.size < before + 3) await new Promise((resolve) => setTimeout(resolve, 2))

  await database.pool.query('delete from apps where id = $1', [app.id])
  while (one.size > before + 1 || two.size > before + 1) await new Promise((resolve) => setTimeout(resolve, 2))

  assert.deepEqual(matched(one, 'ibis egret'), [stays])
  assert.deepEqual(matched(two, 'ibis egret'), [stays])
})

test('goes on matching while thousands of rules are added', async () => {
  const ruleSet = givenNode()
  const { add } = await givenRules(ruleSet)
  const [swan] = await add('swan')
  await ruleSet.ready()

  let longestMs = 0
  let done = false
  const adding = add(...Array.from({ length: 5_000 }, (_, n) => `bird${n} -noise${n % 9}`)).finally(() => {
    done = true
  })
  let posts = 0
  for (let last = performance.now(); !done; last = performance.now()) {
    assert.deepEqual(matched(ruleSet, 'a swan'), [swan])
    posts++
    await new Promise((resolve) => setImmediate(resolve))
    longestMs = Math.max(longestMs, performance.now() - last)
  }
  await adding

  assert.ok(posts > 20, `${posts} posts`)
  assert.ok(longestMs < 1_000, `${longestMs} ms`)
  assert.equal(matched(ruleSet, 'bird4999').length, 1)
})
