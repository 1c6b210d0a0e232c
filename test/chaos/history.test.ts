import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type History, judge, judgeReplay, type Post } from './history.ts'

const post = (number: number, startedAt: number, more: Partial<Post> = {}): Post => ({
  webhook: 'a',
  number,
  delivery: `d${number}`,
  node: '1',
  replay: false,
  startedAt,
  endedAt: startedAt + 10,
  status: 200,
  ...more
})
const history = (more: Partial<History>): History => ({
  acks: [{ webhook: 'a', number: 1 }],
  posts: [post(1, 0)],
  faults: [],
  zombies: [],
  unanswered: new Set(),
  inFlightMax: 2,
  ...more
})

test('finds nothing wrong where everything arrived once', () => {
  assert.equal(judge(history({})).sound, true)
})

test('notices what was acknowledged to its publisher and never to us', () => {
  const never = judge(history({ posts: [] }))
  const refused = judge(history({ posts: [post(1, 0, { status: 503 })] }))
  const replayedOnly = judge(history({ posts: [post(1, 0, { replay: true })] }))

  for (const verdict of [never, refused, replayedOnly]) {
    assert.deepEqual(verdict.lost, [{ webhook: 'a', number: 1 }])
    assert.equal(verdict.sound, false)
  }
})

test('accepts a duplicate after a refusal or around a fault, and no other', () => {
  const twice = [post(1, 1_000), post(1, 2_000)]
  const refused = [post(1, 1_000, { status: 503 }), post(1, 2_000)]
  const fault = { name: 'kill', startedAt: 1_500, endedAt: 1_600 }
  const earlier = { name: 'kill', startedAt: 100, endedAt: 200 }
  const later = { name: 'kill', startedAt: 2_500, endedAt: 2_600 }

  assert.equal(judge(history({ posts: refused })).sound, true)
  assert.equal(judge(history({ posts: twice, faults: [fault] })).sound, true)
  assert.equal(judge(history({ posts: twice, faults: [earlier, later] })).duplicates.unexplained.length, 1)
  assert.equal(judge(history({ posts: twice })).sound, false)
  assert.equal(judge(history({ posts: twice, unanswered: new Set(['d1']) })).sound, true)
  assert.equal(judge(history({ posts: twice, unanswered: new Set(['d2']) })).sound, false)
})

test('counts what is in flight to one webhook at once', () => {
  const three = [post(1, 0), post(2, 5), post(3, 9)]
  const chain = [post(1, 0), post(2, 5), post(3, 10)]
  const apart = [post(1, 0), post(2, 5), post(3, 9, { webhook: 'b' })]

  assert.equal(judge(history({ posts: three })).inFlightExceeded, true)
  assert.equal(judge(history({ posts: chain })).inFlightMost, 2)
  assert.equal(judge(history({ posts: apart })).inFlightExceeded, false)
})

test('notices a node that sends before it holds a lease again', () => {
  const zombies = [{ node: '1', from: 100, to: 200 }]

  assert.equal(judge(history({ posts: [post(1, 150)], zombies })).sound, false)
  assert.equal(judge(history({ posts: [post(1, 150, { node: '2' })], zombies })).sound, true)
  assert.equal(judge(history({ posts: [post(1, 200)], zombies })).sound, true)
})

test('wants of a replay its whole set, nothing else, and nothing twice', () => {
  const replayed = (number: number, startedAt: number) => post(number, startedAt, { replay: true })
  const fault = { name: 'kill', startedAt: 15, endedAt: 15 }

  assert.equal(judgeReplay([1, 2], [replayed(1, 0), replayed(2, 1)], []).sound, true)
  assert.deepEqual(judgeReplay([1, 2], [replayed(1, 0), post(2, 0)], []).missing, [2])
  assert.deepEqual(judgeReplay([1], [replayed(1, 0), replayed(2, 1)], []).unexpected, [2])
  assert.deepEqual(judgeReplay([1], [replayed(1, 0), replayed(1, 20)], []).again.unexplained, [1])
  assert.equal(judgeReplay([1], [replayed(1, 0), replayed(1, 20)], [fault]).sound, true)
})
