import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { postAndIncludes, ruleText } from './arbitraries.ts'
import type { Rule } from './ast.ts'
import { createRuleEngine } from './engine.ts'
import { matches } from './match.ts'
import { parseRule } from './parse.ts'
import { PostView, type RawPost } from './post.ts'

const parse = (text: string): Rule => {
  const parsed = parseRule(text)
  assert.ok(parsed.ok, `${text}: ${JSON.stringify(parsed)}`)
  return parsed.rule
}

const post = (raw: Partial<RawPost>) => new PostView({ id: '1', ...raw })
const mine = { owner: 'app', meta: undefined }

test('finds exactly the rules that the plain evaluator finds', () => {
  let found = 0
  fc.assert(
    fc.property(
      fc.array(ruleText, { minLength: 1, maxLength: 12 }),
      fc.array(postAndIncludes, { minLength: 1, maxLength: 6 }),
      (texts, posts) => {
        const rules = texts.map(parse)
        const engine = createRuleEngine({ reviewAfterHits: 2 })
        rules.forEach((rule, index) => {
          engine.add(`${100 + index}`, rule, mine)
        })

        for (const { post, includes } of posts) {
          const matched = engine.match(new PostView(post, includes))

          const expected = rules.flatMap((rule, index) =>
            matches(rule, new PostView(post, includes)) ? `${100 + index}` : []
          )
          assert.deepEqual(matched, expected)
          found += expected.length
        }
      }
    ),
    { numRuns: 600 }
  )
  assert.ok(found > 400, `only ${found} matches: the generators do not meet`)
})

test('counts posts anew without losing track', () => {
  const engine = createRuleEngine({ serialMax: 3 })
  engine.add('1', parse('cat OR dog'), mine)

  for (let count = 0; count < 20; count++) {
    assert.deepEqual(engine.match(post({ text: 'cat dog' })), ['1'])
    assert.deepEqual(engine.match(post({ text: 'bird' })), [])
  }
})

test('keeps finding the right rules while rules come and go', () => {
  const step = fc.oneof(
    fc.record({ add: ruleText, as: fc.integer({ min: 0, max: 7 }) }),
    fc.record({ remove: fc.integer({ min: 0, max: 7 }) }),
    fc.record({ publish: postAndIncludes })
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const engine = createRuleEngine({ reviewAfterHits: 2, serialMax: 7 })
      const rules = new Map<string, Rule>()
      for (const each of steps) {
        if ('add' in each) {
          engine.add(`${each.as}`, parse(each.add), { owner: `app ${each.as % 2}`, meta: undefined })
          rules.set(`${each.as}`, parse(each.add))
        } else if ('remove' in each) {
          assert.equal(engine.remove(`${each.remove}`), rules.delete(`${each.remove}`))
        } else {
          const view = () => new PostView(each.publish.post, each.publish.includes)
          const expected = [...rules].filter(([, rule]) => matches(rule, view())).map(([id]) => id)
          assert.deepEqual(engine.match(view()), expected.sort())
        }
        assert.equal(engine.size, rules.size)
      }

      for (const owner of ['app 0', 'app 1']) engine.removeOwner(owner)
      const { rules: left, terms, unfiled } = engine.stats()
      assert.deepEqual({ left, terms, unfiled }, { left: 0, terms: 0, unfiled: 0 })
    }),
    { numRuns: 400 }
  )
})

test('tells the owners apart and hands back what came with the rule', () => {
  const engine = createRuleEngine<{ tag: string }>()
  engine.add('1', parse('cat'), { owner: 'a', meta: { tag: 'cats' } })
  engine.add('2', parse('cat OR dog'), { owner: 'b', meta: { tag: 'pets' } })
  engine.add('3', parse('"a cat"'), { owner: 'a', meta: { tag: 'one cat' } })

  const matched = engine.matchByOwner(post({ text: 'A cat' }))

  assert.deepEqual([...matched.keys()].sort(), ['a', 'b'])
  assert.deepEqual(
    matched.get('a')?.map(({ id, meta }) => [id, meta.tag]),
    [
      ['1', 'cats'],
      ['3', 'one cat']
    ]
  )
})

test('removes all rules of one owner and no other', () => {
  const engine = createRuleEngine()
  engine.add('1', parse('cat'), { owner: 'a', meta: undefined })
  engine.add('2', parse('cat'), { owner: 'b', meta: undefined })
  engine.add('3', parse('dog'), { owner: 'a', meta: undefined })

  assert.equal(engine.removeOwner('a'), 2)

  assert.deepEqual(engine.match(post({ text: 'cat dog' })), ['2'])
})

test('puts a rule in the place of the one with the same id', () => {
  const engine = createRuleEngine()
  engine.add('1', parse('cat'), mine)
  engine.add('1', parse('dog'), mine)

  assert.equal(engine.size, 1)
  assert.deepEqual(engine.match(post({ text: 'cat' })), [])
  assert.deepEqual(engine.match(post({ text: 'dog' })), ['1'])
})

test('files all rules but those without any term they need', () => {
  const engine = createRuleEngine()
  const filed = [
    'the cat',
    '#cat -dog',
    'from:ann has:images',
    '(cat OR dog) followers_count:10',
    'url_contains:"x"',
    'point_radius:[1 2 3mi]',
    'embedding:"electric cars"'
  ]
  for (const text of filed) engine.add(text, parse(text), mine)
  assert.equal(engine.stats().unfiled, 0)

  engine.add('unfiled', parse('followers_count:10 has:images'), mine)
  engine.add('unfiled too', parse('cat OR min_likes:3'), mine)
  engine.add('as like as you please', parse('embedding:"electric cars" embedding_threshold:0'), mine)

  assert.equal(engine.stats().unfiled, 3)
  assert.deepEqual(engine.match(post({ text: 'nothing alike' })), ['as like as you please'])
})

test('does not read what no rule asks for', () => {
  const engine = createRuleEngine()
  engine.add('1', parse('from:7'), mine)
  const raw: RawPost = { id: '1', author_id: '7' }
  Object.defineProperty(raw, 'text', {
    get() {
      throw new Error('nobody asked for the text')
    }
  })

  assert.deepEqual(engine.match(new PostView(raw)), ['1'])
})

test('files a rule anew when its word turns out to be frequent', () => {
  const engine = createRuleEngine({ reviewAfterHits: 64 })
  // "zebra" is expected to be rarer than "big", and is in every post here.
  engine.add('1', parse('big zebra'), mine)
  const publish = (text: string, times: number) => {
    const before = engine.stats().met
    for (let count = 0; count < times; count++) engine.match(post({ text }))
    return engine.stats().met - before
  }

  assert.ok(publish('a zebra', 5000) >= 64)
  assert.equal(publish('a zebra', 5000), 0)

  assert.deepEqual(engine.match(post({ text: 'big zebra' })), ['1'])
})

test('tests a rule only when the next term it needs is there, too', () => {
  const engine = createRuleEngine()
  for (const text of ['"grey zebra"', 'zebra (lion OR tiger)', '(zebra lion) OR (zebra ape)'])
    engine.add(text, parse(text), mine)

  engine.match(post({ text: 'zebra' }))
  assert.deepEqual([engine.stats().met, engine.stats().tested], [3, 0])

  assert.deepEqual(engine.match(post({ text: 'the ape, the zebra' })), ['(zebra lion) OR (zebra ape)'])
  assert.equal(engine.stats().tested, 1)
})
