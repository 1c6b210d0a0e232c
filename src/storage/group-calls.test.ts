import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupCalls } from './group-calls.ts'

test('serves a lone call alone, and those that come meanwhile together', async () => {
  const groups: number[][] = []
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const double = groupCalls(
    async (numbers: number[]) => {
      groups.push(numbers)
      await gates[groups.length - 1]?.promise
      return numbers.map((n) => n * 2)
    },
    { concurrency: 1 }
  )

  const first = double(1)
  await new Promise(setImmediate)
  const others = [double(2), double(3), double(4)]
  for (const gate of gates) gate.resolve()

  assert.deepEqual(await Promise.all([first, ...others]), [2, 4, 6, 8])
  assert.deepEqual(groups, [[1], [2, 3, 4]])
})

test('keeps groups small and runs a few at once', async () => {
  let running = 0
  let most = 0
  const echo = groupCalls(
    async (numbers: number[]) => {
      assert.ok(numbers.length <= 10)
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
      return numbers
    },
    { weightMax: 10, concurrency: 3 }
  )
  const numbers = Array.from({ length: 95 }, (_, n) => n)

  assert.deepEqual(await Promise.all(numbers.map(echo)), numbers)
  assert.ok(most > 1 && most <= 3, `${most}`)
})

test('counts a heavy call as many', async () => {
  const groups: string[][] = []
  const run = groupCalls(
    async (texts: string[]) => {
      groups.push(texts)
      return texts
    },
    { weightMax: 4, weightOf: (text) => text.length, concurrency: 1 }
  )

  await Promise.all(['a', 'bb', 'c', 'dd', 'eeeeeeee', 'f'].map(run))

  assert.deepEqual(groups, [['a', 'bb', 'c'], ['dd'], ['eeeeeeee'], ['f']])
})

test('a bad call fails alone where that is safe, and with its group where it is not', async () => {
  const run = async (numbers: number[]) => {
    if (numbers.includes(13)) throw new Error('unlucky')
    return numbers
  }
  const safe = groupCalls(run, { mayRunAlone: () => true })
  const careful = groupCalls(run)
  const settle = async (call: (n: number) => Promise<number>) =>
    (await Promise.allSettled([12, 13, 14].map(call))).map(({ status }) => status)

  assert.deepEqual(await settle(safe), ['fulfilled', 'rejected', 'fulfilled'])
  assert.deepEqual(await settle(careful), ['rejected', 'rejected', 'rejected'])
})
