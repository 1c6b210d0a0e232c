import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/app.ts'

test('a node is there while it runs, with the database it runs on', async (t) => {
  const app = await startApp(t)
  const health = async () => {
    const headers = { authorization: `Bearer ${app.adminToken}` }
    return (await app.apps.main.inject({ url: '/admin/health', headers })).json().data
  }
  assert.deepEqual((await health()).nodes, [])

  await app.start()
  const { nodes, database } = await health()

  assert.deepEqual(
    nodes.map(({ pid, roles, alive }: { pid: number; roles: string[]; alive: boolean }) => ({ pid, roles, alive })),
    [{ pid: process.pid, roles: ['api', 'deliver', 'work'], alive: true }]
  )
  assert.match(database.version, /^\d+/)
  assert.ok(database.size_bytes > 0 && database.connections > 0 && database.connections_max >= database.connections)
})
