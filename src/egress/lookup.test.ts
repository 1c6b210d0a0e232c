import assert from 'node:assert/strict'
import dgram from 'node:dgram'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { PUBLIC_V4, PUBLIC_V6 } from '../../test/egress.ts'
import { createEgress } from './index.ts'
import { createLookup, type Lookup } from './lookup.ts'

const TYPE_A = 1
const TYPE_AAAA = 28
const NXDOMAIN = 3
const SERVFAIL = 2

interface Zone {
  a?: string[]
  aaaa?: string[]
  code?: number
}

function ipv6Bytes(address: string) {
  const [head = '', tail] = address.split('::')
  const before = head.split(':').filter(Boolean)
  const after = (tail ?? '').split(':').filter(Boolean)
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}

/** Just enough of a name server to be asked for A and AAAA; says nothing about names it does not have. */
async function nameServer(t: TestContext, zones: Record<string, Zone>) {
  const socket = dgram.createSocket('udp4')
  const queries: string[] = []
  socket.on('message', (query, { port, address }) => {
    let at = 12
    const labels: string[] = []
    while (query[at] !== 0) {
      labels.push(query.toString('ascii', at + 1, at + 1 + query[at]!))
      at += query[at]! + 1
    }
    const name = labels.join('.').toLowerCase()
    const type = query.readUInt16BE(at + 1)
    queries.push(`${name} ${type === TYPE_A ? 'A' : 'AAAA'}`)
    const zone = zones[name]
    if (!zone) return
    const records = type === TYPE_A ? zone.a : type === TYPE_AAAA ? zone.aaaa : []
    const answers = (records ?? []).map((record) => {
      const data = type === TYPE_A ? Buffer.from(record.split('.').map(Number)) : ipv6Bytes(record)
      const head = Buffer.alloc(12)
      head.writeUInt16BE(0xc00c, 0)
      head.writeUInt16BE(type, 2)
      head.writeUInt16BE(1, 4)
      head.writeUInt32BE(60, 6)
      head.writeUInt16BE(data.length, 10)
      return Buffer.concat([head, data])
    })
    const head = Buffer.alloc(12)
    query.copy(head, 0, 0, 2)
    head.writeUInt16BE(0x8180 | (zone.code ?? 0), 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(answers.length, 6)
    socket.send(Buffer.concat([head, query.subarray(12, at + 5), ...answers]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => void socket.close())
  const servers = [`127.0.0.1:${socket.address().port}`]
  return { lookup: createLookup({ servers, queryTimeoutMs: 200 }), queries }
}

test('answers with all A and AAAA records of a name', async (t) => {
  const { lookup } = await nameServer(t, {
    'both.example.test': { a: [PUBLIC_V4, '10.0.0.1'], aaaa: [PUBLIC_V6] },
    'four.example.test': { a: [PUBLIC_V4] },
    'six.example.test': { aaaa: [PUBLIC_V6, 'fd00::1'] }
  })

  assert.deepEqual(await lookup('both.example.test'), [PUBLIC_V4, '10.0.0.1', PUBLIC_V6])
  assert.deepEqual(await lookup('four.example.test.'), [PUBLIC_V4])
  assert.deepEqual(await lookup('six.example.test'), [PUBLIC_V6, 'fd00::1'])
})

test('one forbidden record of a real name server refuses the name', async (t) => {
  const { lookup } = await nameServer(t, {
    'good.example.test': { a: [PUBLIC_V4], aaaa: [PUBLIC_V6] },
    'a.example.test': { a: [PUBLIC_V4, '127.0.0.1'] },
    'aaaa.example.test': { a: [PUBLIC_V4], aaaa: [PUBLIC_V6, '::1'] },
    'mapped.example.test': { a: [PUBLIC_V4], aaaa: ['::ffff:a00:1'] }
  })
  const egress = createEgress({ allowPrivate: false, resolve: new Map(), connectionsPerTargetMax: 1, lookup })
  const verdict = async (name: string) => (await egress.check(`https://${name}.example.test/`)).ok

  assert.deepEqual(await Promise.all(['good', 'a', 'aaaa', 'mapped'].map(verdict)), [true, false, false, false])
})

test('a name that DNS does not have is asked of the system, one that fails is not', async (t) => {
  const { lookup, queries } = await nameServer(t, {
    'gone.example.invalid': { code: NXDOMAIN },
    'broken.example.invalid': { code: SERVFAIL },
    'empty.example.invalid': {}
  })

  await assert.rejects(lookup('gone.example.invalid'), { syscall: 'getaddrinfo' })
  await assert.rejects(lookup('broken.example.invalid'), { code: 'ESERVFAIL' })
  await assert.rejects(lookup('empty.example.invalid'), { code: 'ENODATA' })
  assert.ok((await lookup('localhost')).every((address) => address === '127.0.0.1' || address === '::1'))
  assert.ok(!queries.some((query) => query.startsWith('localhost')))
})

test('a name server that says nothing holds up no other name', async (t) => {
  const server = await nameServer(t, { 'quick.example.test': { a: [PUBLIC_V4] } })
  const asked: Promise<unknown>[] = []
  const lookup: Lookup = (host) => {
    const answer = server.lookup(host)
    asked.push(answer)
    return answer
  }
  const egress = createEgress({ allowPrivate: false, resolve: new Map(), connectionsPerTargetMax: 1, lookup })

  const silent = Array.from({ length: 50 }, (_, i) =>
    egress.check(`https://silent${i}.example.test/`, { deadlineMs: 5_000 })
  )
  const first = await Promise.race([...silent, egress.check('https://quick.example.test/')])

  assert.ok(first.ok)
  for (const result of await Promise.all(silent)) assert.equal(result.ok || result.code, 'DNS')
  // They end by themselves, too; the server must not go away before.
  await Promise.allSettled(asked)
})
