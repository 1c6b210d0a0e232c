import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { postAndIncludes, ruleText } from '../rules/arbitraries.ts'
import { matches, PostView, parseRule, type Rule } from '../rules/index.ts'
import { neededTerms, termsOf } from './terms.ts'

function parse(text: string): Rule {
  const parsed = parseRule(text)
  assert.ok(parsed.ok, text)
  return parsed.rule
}

test('leads to every post that matches', () => {
  let narrowed = 0
  fc.assert(
    fc.property(ruleText, fc.array(postAndIncludes, { minLength: 1, maxLength: 10 }), (text, posts) => {
      const rule = parse(text)
      const needed = neededTerms(rule)
      for (const { post, includes } of needed ? posts : []) {
        if (!matches(rule, new PostView(post, includes))) continue
        narrowed++
        const terms = new Set(termsOf(new PostView(post, includes)))
        assert.ok(
          needed!.some((term) => terms.has(term)),
          text
        )
      }
    }),
    { numRuns: 1_000 }
  )
  assert.ok(narrowed > 20, `only ${narrowed} posts matched`)
})

test('knows what it cannot lead to', () => {
  assert.equal(neededTerms(parse('the OR cat')), undefined)
  assert.equal(neededTerms(parse('the lang:de')), undefined)
  assert.equal(neededTerms(parse('cat -dog'))?.length, 1)
  assert.equal(neededTerms(parse('the cat'))?.length, 1)
  assert.equal(neededTerms(parse('cat OR #dog OR from:ann'))?.length, 3)
})
