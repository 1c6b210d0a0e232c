import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { LANG_CODES } from './codes.ts'
import { HAS_VALUES, IS_VALUES, OPERATORS } from './operators.ts'
import { parseRule } from './parse.ts'

const page = readFileSync(new URL('../../../docs/rules.md', import.meta.url), 'utf8')

/** The cells of all tables with these columns. */
function rowsUnder(...columns: string[]): string[][] {
  const rows: string[][] = []
  let inTable = false
  for (const line of page.split('\n')) {
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
    if (cells.length === 0) inTable = false
    else if (cells.join() === columns.join()) inTable = true
    else if (inTable && !cells[0]?.startsWith('---')) rows.push(cells)
  }
  return rows
}

const code = (cell: string | undefined) => /^`(.*)`$/.exec(cell ?? '')?.[1] ?? assert.fail(`${cell} is not one example`)

test('every example of docs/rules.md is a rule', () => {
  const examples = [
    ...[...page.matchAll(/```rule\n(.*)\n```/g)].map(([, rule]) => rule as string),
    ...rowsUnder('Write', 'Means', 'Example').map((row) => code(row[2])),
    ...rowsUnder('Operator', 'Matches', 'Example').map((row) => code(row[2]))
  ]

  assert.ok(examples.length > 40)
  for (const example of examples) assert.ok(parseRule(example).ok, `${example}: ${JSON.stringify(parseRule(example))}`)
})

test('every refused rule of docs/rules.md is refused with the message beside it', () => {
  const rows = rowsUnder('Rule', 'Message')

  assert.ok(rows.length > 10)
  for (const [rule, message] of rows) {
    const parsed = parseRule(code(rule))
    assert.deepEqual(parsed.ok ? [] : parsed.errors.map((error) => error.message), [code(message)])
  }
})

test('docs/rules.md names every operator, alias, value and language', () => {
  const names = [
    ...[...OPERATORS.keys()].filter((name) => name !== 'is' && name !== 'has').map((name) => `${name}:`),
    ...[...IS_VALUES.keys()].map((value) => `is:${value}`),
    ...[...HAS_VALUES.keys()].map((value) => `has:${value}`)
  ]

  assert.deepEqual(
    names.filter((name) => !page.includes(`${name}\``)),
    []
  )
  const listed = /^Languages: (.*?)\.$/ms.exec(page)?.[1]?.split(/[\s,]+/) ?? []
  assert.deepEqual(
    LANG_CODES.filter((lang) => !listed.includes(lang)),
    []
  )
})
