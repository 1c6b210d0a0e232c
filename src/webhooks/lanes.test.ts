import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Fifo, Lane } from './lanes.ts'
import { preferredNode } from './lanes-lease.ts'
import type { Cause, Delivery } from './log.ts'

const laneWith = (inFlightMax: number, bufferMax = 1_000) => {
  const lane = new Lane(
    { app_id: '1', webhook_id: '2', epoch: 1, url: 'https://hooks.example.test/', valid: true },
    { inFlightMax, bufferMax }
  )
  lane.backlog = false
  return lane
}

let lastId = 0
const delivery = (cause: Cause = 'live', retry = false): Delivery => ({
  app_id: '1',
  webhook_id: '2',
  id: String(++lastId),
  created_at: '2026-01-15T12:00:00.000Z',
  due_at: '2026-01-15T12:00:00.000Z',
  retry,
  attempts: retry ? 1 : 0,
  cause,
  body: Buffer.alloc(0)
})
const fill = (lane: Lane, count: number) => {
  for (let i = 0; i < count; i++) lane.offer(delivery())
}
/** Sends all that may be sent now. */
const sendAll = (lane: Lane) => {
  const sent: Delivery[] = []
  for (let next = lane.next(0); next; next = lane.next(0)) sent.push(next)
  return sent
}

test('begins carefully and reaches its bound after a few rounds of acknowledgements', () => {
  const lane = laneWith(32)
  fill(lane, 500)

  const rounds: number[] = []
  for (let round = 0; round < 4; round++) {
    const sent = sendAll(lane)
    rounds.push(sent.length)
    for (const each of sent) {
      lane.over(each)
      lane.speedUp()
    }
  }

  assert.deepEqual(rounds, [8, 16, 32, 32])
})

test('halves its pace once per round of trouble, and recovers', () => {
  const lane = laneWith(32)
  for (let i = 0; i < 100; i++) lane.speedUp()
  fill(lane, 500)

  const sent = sendAll(lane)
  const sentAs = lane.sends
  for (const each of sent) {
    lane.over(each)
    lane.slowDown(sentAs)
  }
  assert.equal(lane.limit, 16)

  for (const _ of Array(10)) {
    const again = sendAll(lane)
    for (const each of again) lane.over(each)
    lane.slowDown(lane.sends)
  }
  assert.equal(lane.limit, 1)

  for (let i = 0; i < 1_000; i++) lane.speedUp()
  assert.equal(lane.limit, 32)
})

test('sends first attempts before retries, and yet does not leave retries behind for ever', () => {
  const lane = laneWith(1_000)
  for (let i = 0; i < 2_000; i++) lane.speedUp()
  for (let i = 0; i < 5; i++) lane.retries.push(delivery('live', true))
  fill(lane, 40)

  const order = sendAll(lane).map(({ retry }) => (retry ? 'retry' : 'first'))

  assert.equal(order.slice(0, 8).join(), Array(8).fill('first').join())
  assert.ok(order.indexOf('retry') >= 8)
  assert.ok(order.slice(0, 20).includes('retry'))
})

test('a replay and live traffic go on beside each other', () => {
  const lane = laneWith(8)
  for (let i = 0; i < 100; i++) lane.speedUp()
  fill(lane, 100)
  for (let i = 0; i < 100; i++) lane.replayed.push(delivery('replay'))

  const causes = sendAll(lane).map(({ cause }) => cause)

  assert.equal(causes.length, 8)
  assert.ok(causes.filter((cause) => cause === 'replay').length >= 1)
  assert.ok(causes.filter((cause) => cause === 'live').length >= 4)
})

test('a replay alone leaves half of the slots to live traffic that may come', () => {
  const lane = laneWith(8)
  for (let i = 0; i < 100; i++) lane.speedUp()
  for (let i = 0; i < 100; i++) lane.replayed.push(delivery('replay'))

  assert.equal(sendAll(lane).length, 4)
})

test('takes nothing by hand while older deliveries wait in the queue, or when its memory is full', () => {
  const lane = laneWith(4, 10)
  fill(lane, 12)
  assert.equal(lane.buffered, 10)
  assert.equal(lane.backlog, true)

  const other = laneWith(4)
  other.backlog = true
  assert.equal(other.offer(delivery()), false)
  other.nearlyEmpty = true
  assert.equal(other.offer(delivery()), true)
})

test('sends nothing while it is closed, invalid or asked to pause', () => {
  const lane = laneWith(4)
  fill(lane, 4)

  lane.pausedUntilMs = 10
  assert.equal(lane.next(9), undefined)
  lane.valid = false
  assert.equal(lane.next(10), undefined)
  lane.valid = true
  lane.closed = true
  assert.equal(lane.next(10), undefined)
  lane.closed = false
  assert.ok(lane.next(10))
})

test('never exceeds its limit, whatever happens', () => {
  const step = fc.oneof(
    fc.constantFrom('send', 'fresh', 'retry', 'replay', 'up', 'down', 'forget'),
    fc.nat(40).map((index) => ({ over: index }))
  )
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.array(step, { maxLength: 300 }), (inFlightMax, steps) => {
      const lane = laneWith(inFlightMax)
      const inFlight: Delivery[] = []
      for (const each of steps) {
        if (typeof each === 'object') {
          const [done] = inFlight.splice(each.over, 1)
          if (done) lane.over(done)
        } else if (each === 'send') inFlight.push(...sendAll(lane))
        else if (each === 'fresh') fill(lane, 3)
        else if (each === 'retry') lane.retries.push(delivery('live', true))
        else if (each === 'replay') lane.replayed.push(delivery('replay'))
        else if (each === 'up') lane.speedUp()
        else if (each === 'down') lane.slowDown(lane.sends)
        else lane.forget()
        assert.ok(lane.limit >= 1 && lane.limit <= inFlightMax)
        assert.ok(inFlight.length <= inFlightMax)
        assert.equal(lane.inFlight, inFlight.length)
      }
    })
  )
})

test('a queue in memory gives back what it was given, in order', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer())), (steps) => {
      const fifo = new Fifo<number>()
      const model: number[] = []
      for (const step of steps) {
        if (step === null) assert.equal(fifo.shift(), model.shift())
        else {
          fifo.push(step)
          model.push(step)
        }
        assert.equal(fifo.length, model.length)
      }
    })
  )
})

test('lanes are spread over nodes, and few move when one joins', () => {
  const webhooks = Array.from({ length: 3_000 }, (_, i) => String(1_902_345_678_901_234_567n + BigInt(i)))
  const two = ['4880324901295054848', '4880324901295054849']
  const three = [...two, '4880324901295054850']

  const before = webhooks.map((id) => preferredNode(two, id))
  const after = webhooks.map((id) => preferredNode(three, id))

  for (const node of two) {
    const share = before.filter((owner) => owner === node).length / webhooks.length
    assert.ok(share > 0.45 && share < 0.55, `${share}`)
  }
  const moved = before.filter((owner, i) => owner !== after[i])
  assert.ok(Math.abs(moved.length / webhooks.length - 1 / 3) < 0.05)
  assert.ok(after.every((owner, i) => owner === before[i] || owner === three[2]))
  assert.equal(preferredNode([], '1'), undefined)
})
