import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { claimOpinionScore, SIGNALS, testResult, urlsIn } from './evaluate.ts'

const POST = 'The city council has banned all tacos from every school since Monday.'
const SOBER =
  'The council banned nothing. According to the minutes of 3 June, published by the city, tacos stay on every school menu. https://city.example/minutes https://school.example/menu'

test('a sober note with sources, citations, figures and the subject of the post has the full score', () => {
  assert.equal(claimOpinionScore(SOBER, POST), 1)
  assert.deepEqual(testResult(SOBER, POST), { evaluator_type: 'UrlValidity', evaluator_score_bucket: 'High' })
})

test('the weights in favour add up to one', () => {
  const sum = SIGNALS.filter(({ weight }) => weight > 0).reduce((total, { weight }) => total + weight, 0)

  assert.equal(Math.round(sum * 1000), 1000)
})

for (const [what, text, score] of [
  ['without a source', SOBER.replaceAll(/https\S+/g, ''), 0.65],
  ['with one source', SOBER.replace('https://school.example/menu', ''), 0.95],
  ['with two pages of one source', SOBER.replace('school.example', 'city.example'), 0.95],
  ['with an opinion', `I think so. ${SOBER}`, 0.75],
  ['with three opinions', `Obviously I think this is terrible. ${SOBER}`, 0.55],
  ['with an insult', `You idiot. ${SOBER}`, 0.6],
  ['that shouts', `WRONG AGAIN FOLKS!! ${SOBER.replace('WRONG', '')} EVERYBODY KNOWS THIS`, 0.75],
  ['that only insults', 'You stupid idiot', 0],
  ['of an address alone', 'https://city.example/minutes', 0.45]
] as const) {
  test(`a note ${what} has ${score}`, () => {
    assert.equal(claimOpinionScore(text, POST), score)
  })
}

test('a note on something else than the post has less', () => {
  assert.equal(claimOpinionScore(SOBER, 'Look at my cat'), 0.9)
})

test('any text has a score from 0 to 1 with two digits, and always the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.string(), (text, post) => {
      const score = claimOpinionScore(text, post)
      assert.ok(score >= 0 && score <= 1)
      assert.equal(score, Number(score.toFixed(2)))
      assert.equal(claimOpinionScore(text, post), score)
      assert.deepEqual(testResult(text, post), testResult(text, post))
    }),
    { numRuns: 200 }
  )
})

test('words in an address are no words of the note', () => {
  const plain = 'See https://news.example/a'
  assert.equal(claimOpinionScore('See https://news.example/idiot-report-2026', POST), claimOpinionScore(plain, POST))
})

test('addresses are those that somebody else could open', () => {
  const hosts = (text: string) => urlsIn(text).map(({ hostname }) => hostname)

  assert.deepEqual(hosts('(see https://a.example/x, and HTTP://b.example.)'), ['a.example', 'b.example'])
  assert.deepEqual(hosts('https://localhost/x ftp://a.example a.example https:// https://u:p@a.example https://.'), [])
})

for (const [text, evaluator_type, evaluator_score_bucket] of [
  [SOBER.replaceAll('https', 'http'), 'UrlValidity', 'Low'],
  [SOBER.replace('https://school', 'http://school'), 'UrlValidity', 'Medium'],
  [`${SOBER} Morons`, 'HarassmentAbuse', 'Low'],
  ['Maybe https://a.example/b', 'ClaimOpinion', 'Low'],
  ['Tacos stay on the menu, see https://a.example/b', 'ClaimOpinion', 'Medium']
] as const) {
  test(`"${text.slice(-40)}" is held back by ${evaluator_type} ${evaluator_score_bucket}`, () => {
    assert.deepEqual(testResult(text, POST), { evaluator_type, evaluator_score_bucket })
  })
}
