import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { RUN_STATES, RUN_TRANSITIONS } from './feed-run-states.ts'
import { SET_STATUSES, SET_TRANSITIONS } from './set-states.ts'

const pages = [
  { page: 'feed-run.md', states: RUN_STATES, transitions: RUN_TRANSITIONS },
  { page: 'product-set.md', states: SET_STATUSES, transitions: SET_TRANSITIONS }
] as const

for (const { page, states, transitions } of pages) {
  test(`docs/states/${page} shows the transitions of the code, as a table and as a diagram`, async () => {
    const text = await readFile(path.join(import.meta.dirname, '../../docs/states', page), 'utf8')
    const table = Array.from(text.matchAll(/^\| (none|[A-Z_]+) \| (.+) \| ([A-Z_]+) \|$/gm), ([, ...cells]) => cells)
    const arrows = Array.from(text.matchAll(/^ {2}(\S+) --> ([^\s:]+)/gm), ([, from, to]) => `${from} ${to}`)

    assert.deepEqual(
      table,
      transitions.map(({ from, cause, to }) => [from, cause, to])
    )
    const between = transitions.map(({ from, to }) => `${from === 'none' ? '[*]' : from} ${to}`)
    assert.deepEqual(new Set(arrows.filter((arrow) => !arrow.endsWith('[*]'))), new Set(between))
    assert.deepEqual(new Set(transitions.map(({ to }) => to)), new Set(states), 'every state is reached')
  })
}
