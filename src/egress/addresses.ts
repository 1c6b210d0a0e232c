/** Which addresses may be connected to. The tables follow IANA's special-purpose registries; see docs/decisions/0010. */
import ipaddr from 'ipaddr.js'

/** `private`: allowed only with HERALD_EGRESS_ALLOW_PRIVATE. `never`: no target of ours, whatever the settings. */
type Verdict = 'public' | 'private' | 'never'

interface AddressRange {
  name: string
  verdict: Verdict
  cidrs: string[]
}

/** First match wins; what matches nothing is public. */
export const IPV4_RANGES: AddressRange[] = [
  {
    name: 'cloud metadata',
    verdict: 'never',
    cidrs: [
      '169.254.169.254/32', // AWS, Azure, Google Cloud, OpenStack and most others
      '169.254.169.123/32', // AWS time
      '169.254.169.253/32', // AWS name server
      '169.254.170.2/32', // AWS container credentials
      '169.254.170.23/32', // AWS pod identity
      '169.254.0.23/32', // Tencent Cloud
      '100.100.100.200/32', // Alibaba Cloud
      '192.0.0.192/32', // Oracle Cloud
      '168.63.129.16/32' // Azure's host, outside every special range
    ]
  },
  { name: 'broadcast', verdict: 'never', cidrs: ['255.255.255.255/32'] },
  { name: 'unspecified', verdict: 'never', cidrs: ['0.0.0.0/8'] },
  { name: 'loopback', verdict: 'private', cidrs: ['127.0.0.0/8'] },
  { name: 'private', verdict: 'private', cidrs: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'] },
  { name: 'link-local', verdict: 'private', cidrs: ['169.254.0.0/16'] },
  { name: 'carrier-grade NAT', verdict: 'private', cidrs: ['100.64.0.0/10'] },
  { name: 'benchmarking', verdict: 'private', cidrs: ['198.18.0.0/15'] },
  { name: 'documentation', verdict: 'never', cidrs: ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'] },
  { name: 'protocol assignment', verdict: 'never', cidrs: ['192.0.0.0/24'] },
  { name: '6to4 relay', verdict: 'never', cidrs: ['192.88.99.0/24'] },
  {
    name: 'AS112 and AMT',
    verdict: 'never',
    cidrs: ['192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24']
  },
  { name: 'multicast', verdict: 'never', cidrs: ['224.0.0.0/4'] },
  { name: 'reserved', verdict: 'never', cidrs: ['240.0.0.0/4'] }
]

/** First match wins; what matches nothing is public if it is global unicast (2000::/3) and reserved otherwise. */
export const IPV6_RANGES: AddressRange[] = [
  { name: 'cloud metadata', verdict: 'never', cidrs: ['fd00:ec2::/32', 'fd20:ce::254/128', 'fd00:42::42/128'] },
  { name: 'unspecified', verdict: 'never', cidrs: ['::/128'] },
  { name: 'loopback', verdict: 'private', cidrs: ['::1/128'] },
  { name: 'unique-local', verdict: 'private', cidrs: ['fc00::/7'] },
  { name: 'link-local', verdict: 'private', cidrs: ['fe80::/10'] },
  { name: 'site-local', verdict: 'private', cidrs: ['fec0::/10'] },
  { name: 'multicast', verdict: 'never', cidrs: ['ff00::/8'] },
  { name: 'IPv4-mapped', verdict: 'never', cidrs: ['::ffff:0:0/96'] },
  { name: 'IPv4-compatible', verdict: 'never', cidrs: ['::/96'] },
  { name: 'IPv4-translated', verdict: 'never', cidrs: ['::ffff:0:0:0/96'] },
  { name: 'NAT64', verdict: 'never', cidrs: ['64:ff9b::/96', '64:ff9b:1::/48'] },
  { name: 'discard', verdict: 'never', cidrs: ['100::/64', '100:0:0:1::/64'] },
  { name: 'Teredo', verdict: 'never', cidrs: ['2001::/32'] },
  { name: 'benchmarking', verdict: 'private', cidrs: ['2001:2::/48'] },
  { name: 'ORCHID', verdict: 'never', cidrs: ['2001:10::/28', '2001:20::/28'] },
  { name: 'protocol assignment', verdict: 'never', cidrs: ['2001::/23', '2620:4f:8000::/48'] },
  { name: 'documentation', verdict: 'never', cidrs: ['2001:db8::/32', '3fff::/20'] },
  { name: '6to4', verdict: 'never', cidrs: ['2002::/16'] },
  { name: 'segment routing', verdict: 'never', cidrs: ['5f00::/16'] }
]

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = [ipaddr.IPv4 | ipaddr.IPv6, number]

const parseRanges = (ranges: AddressRange[]) =>
  ranges.map(({ name, verdict, cidrs }) => ({
    name,
    verdict,
    networks: cidrs.map((c): Network => ipaddr.parseCIDR(c))
  }))

const ipv4Ranges = parseRanges(IPV4_RANGES)
const ipv6Ranges = parseRanges(IPV6_RANGES)
const globalUnicast: Network = ipaddr.parseCIDR('2000::/3')

/** Both kinds of address have `match` for their own kind only; the tables keep the kinds apart. */
const within = (address: Address, [network, bits]: Network) =>
  address.kind() === network.kind() && (address as ipaddr.IPv6).match(network as ipaddr.IPv6, bits)

const lookUp = (address: Address, ranges: typeof ipv4Ranges) =>
  ranges.find(({ networks }) => networks.some((network) => within(address, network)))

const ipv4 = (high: number, low: number) => new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff])

/** The IPv4 addresses that a packet to this IPv6 address may end up at. */
function embedded(address: ipaddr.IPv6, range: string): ipaddr.IPv4[] {
  const [, p1, p2, p3, , p5, p6, p7] = address.parts as [number, number, number, number, number, number, number, number]
  switch (range) {
    case 'IPv4-mapped':
    case 'IPv4-compatible':
    case 'IPv4-translated':
    case 'NAT64':
      return [ipv4(p6, p7)]
    case '6to4':
      return [ipv4(p1, p2)]
    case 'Teredo':
      // The relay server in clear, the client with its bits inverted (RFC 4380).
      return [ipv4(p2, p3), ipv4(p6 ^ 0xffff, p7 ^ 0xffff)]
    default:
      // ISATAP interface identifiers, under any prefix (RFC 5214).
      return p5 === 0x5efe && (address.parts[4]! & 0xfdff) === 0 ? [ipv4(p6, p7)] : []
  }
}

export interface Judgement {
  verdict: Verdict
  /** What the address is: "loopback", "6to4 of the private address 10.0.0.1", "public". */
  description: string
}

function judgeIpv4(address: ipaddr.IPv4): Judgement {
  const range = lookUp(address, ipv4Ranges)
  return { verdict: range?.verdict ?? 'public', description: range?.name ?? 'public' }
}

function judgeIpv6(address: ipaddr.IPv6): Judgement {
  const range = lookUp(address, ipv6Ranges)
  const name = range?.name ?? (within(address, globalUnicast) ? 'public' : 'reserved')
  const own: Verdict = range?.verdict ?? (name === 'public' ? 'public' : 'never')
  for (const inner of embedded(address, name)) {
    const { verdict, description } = judgeIpv4(inner)
    // A mapped address *is* the IPv4 address; with private targets allowed it may be one of those, and nothing else.
    if (name === 'IPv4-mapped' && verdict === 'private') return { verdict, description: `IPv4-mapped ${description}` }
    if (verdict !== 'public') {
      const form = name === 'public' ? 'ISATAP' : name
      return { verdict: 'never', description: `${form} form of the ${description} address ${inner}` }
    }
  }
  return { verdict: own, description: name }
}

/** Judges an address in the canonical forms that URLs and DNS answers have. Anything else is never allowed. */
export function judgeAddress(text: string): Judgement {
  const address = parseAddress(text)
  if (!address) return { verdict: 'never', description: 'unreadable' }
  if (address instanceof ipaddr.IPv6) return judgeIpv6(address)
  return judgeIpv4(address)
}

/** Dotted decimals or IPv6; no octal, short or hexadecimal forms of IPv4, which readers disagree about. */
function parseAddress(text: string): Address | undefined {
  if (text.includes(':')) return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined
  return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : undefined
}

export const isAllowed = ({ verdict }: Judgement, allowPrivate: boolean) =>
  verdict === 'public' || (allowPrivate && verdict === 'private')
