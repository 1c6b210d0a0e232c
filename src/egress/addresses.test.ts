import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { isAllowed, judgeAddress } from './addresses.ts'

const allowed = (address: string, allowPrivate = false) => isAllowed(judgeAddress(address), allowPrivate)

/** Written out once more, independently of the tables under test. */
const NEVER_V4 = [
  ['0.0.0.0', 8],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.175.48.0', 24],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['169.254.169.254', 32],
  ['168.63.129.16', 32],
  ['100.100.100.200', 32]
] as const
const PRIVATE_V4 = [
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15]
] as const
/** Private but for the metadata addresses inside. */
const MOSTLY_PRIVATE_V4 = [
  ['100.64.0.0', 10],
  ['169.254.0.0', 16]
] as const
const NEVER_V6 = [
  ['::', 128],
  ['::', 96],
  ['::ffff:0:0', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['100:0:0:1::', 64],
  ['2001::', 32],
  ['2001:10::', 28],
  ['2001:20::', 28],
  ['2001:30::', 28],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['4000::', 3],
  ['5f00::', 16],
  ['8000::', 2],
  ['fe00::', 9],
  ['ff00::', 8],
  ['fd00:ec2::254', 128]
] as const
const PRIVATE_V6 = [
  ['::1', 128],
  ['fc00::', 8],
  ['fd12::', 16],
  ['fe80::', 10],
  ['fec0::', 10],
  ['2001:2::', 48]
] as const

const MANY = { numRuns: 500 }

const v4Number = (text: string) => text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
const v4Text = (n: number) => [24, 16, 8, 0].map((shift) => (n >>> shift) & 0xff).join('.')

function v6Number(text: string): bigint {
  const [head = '', tail] = text.split('::')
  const before = head.split(':').filter(Boolean)
  const after = (tail ?? '').split(':').filter(Boolean)
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
}
const v6Text = (n: bigint) =>
  Array.from({ length: 8 }, (_, i) => ((n >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(':')

type Networks = readonly (readonly [string, number])[]

const inV4 = (networks: Networks) =>
  fc
    .tuple(fc.constantFrom(...networks), fc.nat(0xffffffff))
    .map(([[network, bits], host]) => v4Text((v4Number(network) + (bits === 32 ? 0 : host % 2 ** (32 - bits))) >>> 0))
const inV6 = (networks: Networks) =>
  fc
    .tuple(fc.constantFrom(...networks), fc.bigInt(0n, (1n << 128n) - 1n))
    .map(([[network, bits], host]) => v6Text(v6Number(network) | (host & ((1n << BigInt(128 - bits)) - 1n))))

function blockList(...lists: [Networks, 'ipv4' | 'ipv6'][]) {
  const list = new BlockList()
  for (const [networks, family] of lists) for (const [network, bits] of networks) list.addSubnet(network, bits, family)
  return list
}

const specialV4 = blockList([NEVER_V4, 'ipv4'], [PRIVATE_V4, 'ipv4'], [MOSTLY_PRIVATE_V4, 'ipv4'])

const publicV4 = fc
  .nat(0xffffffff)
  .map(v4Text)
  .filter((address) => !specialV4.check(address))

test('knows what every special address is', () => {
  const table: Record<string, string> = {
    '0.0.0.0': 'unspecified',
    '10.1.2.3': 'private',
    '100.64.0.1': 'carrier-grade NAT',
    '127.0.0.1': 'loopback',
    '169.254.1.1': 'link-local',
    '169.254.169.254': 'cloud metadata',
    '168.63.129.16': 'cloud metadata',
    '172.31.255.255': 'private',
    '192.0.0.8': 'protocol assignment',
    '192.0.2.1': 'documentation',
    '192.88.99.1': '6to4 relay',
    '192.168.0.1': 'private',
    '198.19.255.255': 'benchmarking',
    '198.51.100.7': 'documentation',
    '203.0.113.255': 'documentation',
    '239.255.255.250': 'multicast',
    '240.0.0.1': 'reserved',
    '255.255.255.255': 'broadcast',
    '::': 'unspecified',
    '::1': 'loopback',
    '::ffff:127.0.0.1': 'IPv4-mapped loopback',
    '::ffff:8.8.8.8': 'IPv4-mapped',
    '::a00:1': 'IPv4-compatible form of the private address 10.0.0.1',
    '64:ff9b::a9fe:a9fe': 'NAT64 form of the cloud metadata address 169.254.169.254',
    '64:ff9b::808:808': 'NAT64',
    '2002:7f00:1::': '6to4 form of the loopback address 127.0.0.1',
    '2001:0:808:808:0:0:80ff:fefe': 'Teredo form of the loopback address 127.0.1.1',
    '2001:0:a00:1::f7f7:f7f7': 'Teredo form of the private address 10.0.0.1',
    '2606:4700::5efe:10.0.0.1': 'ISATAP form of the private address 10.0.0.1',
    '2606:4700::200:5efe:c0a8:1': 'ISATAP form of the private address 192.168.0.1',
    '100::1': 'discard',
    '2001:2::1': 'benchmarking',
    '2001:20::1': 'ORCHID',
    '2001:db8::1': 'documentation',
    '3fff:fff::1': 'documentation',
    'fc00::1': 'unique-local',
    'fd00:ec2::254': 'cloud metadata',
    'fe80::1': 'link-local',
    'fe80::1%eth0': 'link-local',
    'fec0::1': 'site-local',
    'ff02::1': 'multicast',
    '1000::1': 'reserved',
    '8.8.8.8': 'public',
    '2606:4700::1111': 'public',
    'not an address': 'unreadable',
    '': 'unreadable',
    '127.1': 'unreadable',
    '0177.0.0.1': 'unreadable'
  }

  const found = Object.fromEntries(Object.keys(table).map((address) => [address, judgeAddress(address).description]))

  assert.deepEqual(found, table)
})

test('the neighbours of private ranges are public', () => {
  for (const address of [
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2001:200::',
    '2001:db7:ffff::',
    '2001:db9::',
    '2003::',
    '3ffe:ffff::',
    '2606:4700::'
  ]) {
    assert.ok(allowed(address), address)
  }
})

test('refuses every address inside a special range', () => {
  fc.assert(
    fc.property(inV4([...NEVER_V4, ...PRIVATE_V4, ...MOSTLY_PRIVATE_V4]), (address) => !allowed(address)),
    MANY
  )
  fc.assert(
    fc.property(inV6([...NEVER_V6, ...PRIVATE_V6]), (address) => !allowed(address)),
    MANY
  )
})

test('allows every address outside of them', () => {
  fc.assert(
    fc.property(publicV4, (address) => allowed(address)),
    MANY
  )
  const special = blockList([NEVER_V6, 'ipv6'], [PRIVATE_V6, 'ipv6'], [[['2001::', 23]], 'ipv6'])
  const isatap = /:2?0?0?0?:?5efe:[0-9a-f]+:[0-9a-f]+$/
  fc.assert(
    fc.property(inV6([['2000::', 3]]), (address) => {
      fc.pre(!special.check(address, 'ipv6') && !isatap.test(address))
      return allowed(address)
    })
  )
})

test('development may reach private addresses, and still no nonsense', () => {
  fc.assert(fc.property(inV4(PRIVATE_V4), (address) => allowed(address, true)))
  fc.assert(fc.property(inV6(PRIVATE_V6), (address) => allowed(address, true)))
  fc.assert(fc.property(inV4(NEVER_V4), (address) => !allowed(address, true)))
  fc.assert(
    fc.property(inV6(NEVER_V6), (address) => {
      // ::1 lies in ::/96, and a mapped private address is that private address.
      fc.pre(address !== '0:0:0:0:0:0:0:1' && !address.startsWith('0:0:0:0:0:ffff:'))
      return !allowed(address, true)
    })
  )
})

test('an IPv4 address in IPv6 clothes is never more welcome than in its own', () => {
  const v4 = fc.oneof(fc.nat(0xffffffff), inV4([...PRIVATE_V4, ...NEVER_V4]).map(v4Number))
  const clothes: [name: string, dress: (n: bigint) => bigint][] = [
    ['mapped', (n) => (0xffffn << 32n) | n],
    ['compatible', (n) => n],
    ['translated', (n) => (0xffffn << 48n) | n],
    ['NAT64', (n) => (0x64ff9bn << 96n) | n],
    ['local NAT64', (n) => (0x64ff9b0001n << 80n) | n],
    ['6to4', (n) => (0x2002n << 112n) | (n << 80n) | 1n],
    ['Teredo server', (n) => (0x20010000n << 96n) | (n << 64n)],
    ['Teredo client', (n) => (0x20010000n << 96n) | (0x08080808n << 64n) | (n ^ 0xffffffffn)],
    ['ISATAP', (n) => (0x26064700n << 96n) | (0x5efen << 32n) | n]
  ]
  fc.assert(
    fc.property(v4, fc.constantFrom(...clothes), fc.boolean(), (n, [, dress], allowPrivate) => {
      // 0.0.0.1 written as IPv4-compatible is ::1, which is loopback in its own right.
      fc.pre(n !== 1)
      const bare = v4Text(n)
      const dressed = v6Text(dress(BigInt(n)))
      assert.ok(allowed(bare, allowPrivate) || !allowed(dressed, allowPrivate), `${dressed} is ${bare}`)
    }),
    MANY
  )
})
