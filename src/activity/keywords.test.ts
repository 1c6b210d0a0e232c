import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mentionsKeyword, termOf, termsOf } from './keywords.ts'

const news = (payload: Record<string, unknown>) => ({ event_type: 'news.new', payload })
const post = (payload: Record<string, unknown>) => ({ event_type: 'post.create', payload })

for (const [keyword, text, found] of [
  ['taco', 'A Taco a day', true],
  ['taco', 'tacos', false],
  ['taco truck', 'the taco-truck is here', true],
  ['taco truck', 'truck taco', false],
  ['TACO', 'a táco', false],
  ['café', 'Cafe\u0301 open', true],
  ['東京', '私は東京にいる', true],
  ['🌮', 'lunch 🌮!', true],
  ['a&b', 'a b', true]
] as const) {
  test(`"${keyword}" is ${found ? '' : 'not '}in "${text}"`, () => {
    assert.equal(mentionsKeyword(post({ text }), keyword), found)
    // A subscription is found by one word of its keyword, so that word must be among those of every text that matches.
    if (found) assert.ok(termsOf(post({ text })).includes(termOf(keyword)!))
  })
}

test('looks into every text of a story, but not across two of them', () => {
  const story = news({ name: 'Lunch is', summary: 'served', contexts: { topics: [{ name: 'Food' }] }, id: 'taco' })

  assert.equal(mentionsKeyword(story, 'food'), true)
  assert.equal(mentionsKeyword(story, 'is served'), false)
  assert.equal(mentionsKeyword(story, 'taco'), false)
})

test('of a post it reads what was written: the long text if there is one, no titles of links', () => {
  const long = {
    text: 'begins…',
    note_tweet: { text: 'begins and ends with tacos' },
    entities: { urls: [{ title: 'Burgers' }] }
  }

  assert.equal(mentionsKeyword(post(long), 'tacos'), true)
  assert.equal(mentionsKeyword(post(long), 'burgers'), false)
})

test('a keyword without a word has no term', () => {
  assert.equal(termOf('!!! …'), undefined)
  assert.equal(termOf('a longest one'), 'longest')
})
