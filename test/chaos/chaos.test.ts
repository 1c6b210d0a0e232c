import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runChaos, SHORT } from './run.ts'

test('loses nothing, whatever happens to nodes, connections, the database and the consumer', async (t) => {
  const { verdict, replay, replayState, faults } = await runChaos(SHORT, () => {})

  assert.ok(verdict.acknowledged > 500, `${verdict.acknowledged} events are too few to say anything`)
  assert.equal(faults.length, 6)
  assert.deepEqual(verdict.lost, [], 'lost')
  assert.deepEqual(verdict.duplicates.unexplained, [], 'sent twice without a reason')
  assert.equal(verdict.inFlightExceeded, false, `${verdict.inFlightMost} in flight`)
  assert.deepEqual(verdict.zombiePosts, [], 'sent without a lease')
  assert.deepEqual(
    { ...replay, again: replay.again.unexplained },
    { ...replay, missing: [], unexpected: [], again: [], sound: true }
  )
  assert.equal(replayState, 'Complete')
  t.diagnostic(`${verdict.acknowledged} events, ${verdict.duplicates.explained} duplicates explained`)
})
