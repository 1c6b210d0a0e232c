import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import { startApp } from './app.ts'

interface Operation {
  summary?: string
  tags?: string[]
  responses: Record<string, { content?: Record<string, { schema?: object }> }>
  'x-rate-limit'?: { name: string; max: number; windowSeconds: number }
}

const app = await startApp({ after })
const document = (await app.apps.main.inject('/openapi.json')).json() as {
  openapi: string
  paths: Record<string, Record<string, Operation>>
}
const operations = Object.entries(document.paths).flatMap(([url, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${url}`, url, operation }))
)

test('describes every route: what it does, and what it answers', () => {
  const api = operations.filter(({ url }) => /^\/(2|12|admin)\//.test(url) && !/oauth2|openapi/.test(url))
  const undescribed = api.filter(({ operation }) => {
    const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))
    return !operation.summary || !operation.tags?.length || !success
  })

  assert.ok(api.length > 100, `${api.length} operations`)
  assert.deepEqual(
    undescribed.map(({ name }) => name),
    []
  )
})

test('is JSON Schema of OpenAPI 3.1: no nullable, no dangling reference', () => {
  const text = JSON.stringify(document)

  assert.equal(document.openapi, '3.1.0')
  assert.ok(!text.includes('"nullable"'))
  for (const [, reference] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const target = reference!
      .split('/')
      .reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], document)
    assert.notEqual(target, undefined, `${reference} leads nowhere`)
  }
})

test('docs/rate-limits.md lists the limit of every operation', async () => {
  const limits = new Map<string, { max: number; windowSeconds: number; used: string[] }>()
  for (const { name, operation } of operations) {
    const limit = operation['x-rate-limit']
    if (!limit || name.includes('/admin/')) continue
    const entry = limits.get(limit.name) ?? { ...limit, used: [] }
    entry.used.push(`\`${name}\``)
    limits.set(limit.name, entry)
  }
  const rows = [...limits]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, { max, windowSeconds, used }]) =>
        `| \`${name}\` | ${max} | ${windowSeconds < 60 ? `${windowSeconds} s` : `${windowSeconds / 60} min`} | ${used.length > 3 ? `${used.slice(0, 2).join(', ')} and ${used.length - 2} more` : used.join(', ')} |`
    )
  const page = `# Rate limits

Windows are fixed, start at the first request and are shared by all nodes. Every answer carries \`x-rate-limit-limit\`,
\`x-rate-limit-remaining\` and \`x-rate-limit-reset\` (Unix seconds); reads below an ad account also carry
\`x-account-rate-limit-*\`, which then decide. Over the limit the answer is 429. Limits of \`/2\` count per app, or per user where a
user asks; those of \`/12\` per user, reads below an account per account. \`with_total_count=true\` is limited to 200 per 15 minutes
and endpoint besides (\`ads.with_total_count\`), anonymous requests to 450 per address (\`v2.anonymous\`, \`ads.anonymous\`). OAuth
endpoints count per app, endpoint and address; those that name no app 450 per address (\`oauth.stranger\`), the pages on which people
consent 1500 (\`oauth.page\`), everything OAuth from one address 6000 (\`oauth.address\`). An app makes 10,000 posts a day
at most, whoever it posts for (\`v2.posts.of_app\`). Notes are limited to 250 a day and user
besides (\`v2.notes.create_per_day\`).

Another number for a name: \`HERALD_RATE_LIMIT_OVERRIDES=ads.writes=900,v2.webhooks.create=50\`. Counting without refusing:
\`HERALD_RATE_LIMITS=off\`. This table is written from the routes (\`HERALD_WRITE_DOCS=1 npm test -- test/openapi.test.ts\`).

| Name | Requests | Window | Counts |
|---|---|---|---|
${rows.join('\n')}
`
  const file = path.join(import.meta.dirname, '../docs/rate-limits.md')
  if (process.env.HERALD_WRITE_DOCS) await writeFile(file, page)

  assert.equal(await readFile(file, 'utf8'), page, 'out of date: HERALD_WRITE_DOCS=1 npm test -- test/openapi.test.ts')
})
