import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { postAndIncludes, ruleText } from './arbitraries.ts'
import { explain } from './explain.ts'
import { matches } from './match.ts'
import { parseRule } from './parse.ts'
import { PostView } from './post.ts'

const parse = (text: string) => {
  const parsed = parseRule(text)
  assert.ok(parsed.ok)
  return parsed.rule
}

test('names the clause that failed, where it is and what was there instead', () => {
  const post = new PostView({ id: '1', text: 'A cat', lang: 'fr', author_id: '7' })

  const explanation = explain(parse('cat has:images lang:en -is:retweet'), post)

  assert.deepEqual(explanation, {
    matched: false,
    clauses: [
      { clause: 'cat', position: 1, matched: true, found: ['a', 'cat'] },
      { clause: 'has:images', position: 5, matched: false, found: [] },
      { clause: 'lang:en', position: 16, matched: false, found: 'fr' },
      { clause: '-is:retweet', position: 24, matched: true }
    ],
    failed: [
      { clause: 'has:images', position: 5, matched: false, found: [] },
      { clause: 'lang:en', position: 16, matched: false, found: 'fr' }
    ]
  })
})

test('blames all branches of an OR, or none', () => {
  const rule = parse('(cat OR dog) (bird OR fish)')

  const { matched, failed } = explain(rule, new PostView({ id: '1', text: 'a dog' }))

  assert.equal(matched, false)
  assert.deepEqual(
    failed.map(({ clause }) => clause),
    ['bird', 'fish']
  )
})

test('opens a negated group', () => {
  const { failed } = explain(parse('cat -(dog OR bird)'), new PostView({ id: '1', text: 'cat dog' }))

  assert.deepEqual(
    failed.map(({ clause, position, group }) => [clause, position, group?.map((each) => [each.clause, each.matched])]),
    [
      [
        '-(dog OR bird)',
        5,
        [
          ['dog', true],
          ['bird', false]
        ]
      ]
    ]
  )
})

test('agrees with the evaluator, and blames something exactly when there was no match', () => {
  fc.assert(
    fc.property(ruleText, postAndIncludes, (text, { post, includes }) => {
      const rule = parse(text)
      const { matched, failed } = explain(rule, new PostView(post, includes))

      assert.equal(matched, matches(rule, new PostView(post, includes)))
      assert.equal(failed.length === 0, matched)
    }),
    { numRuns: 500 }
  )
})
