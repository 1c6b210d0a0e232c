/** Name to addresses. c-ares first, so that a slow name server holds up nobody else's thread. */
import dns from 'node:dns/promises'

/** All addresses of a name, IPv4 and IPv6; rejects when there are none. */
export type Lookup = (host: string) => Promise<string[]>

/** For the first try; the second gets twice as long. */
const QUERY_TIMEOUT_MS = 1_500
/** getaddrinfo holds a thread of the pool that files and zlib need too; it gets half of the four. */
const SYSTEM_LOOKUPS_MAX = 2

/** Names the system may know although DNS does not: the hosts file, search domains, mDNS. */
const MAYBE_LOCAL = new Set(['ENOTFOUND', 'ECONNREFUSED'])

/** At most so many at once; the others wait in line and are handed the place of one that ends. */
function limited<A, R>(max: number, work: (argument: A) => Promise<R>) {
  const waiting: (() => void)[] = []
  let free = max
  return async (argument: A): Promise<R> => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work(argument)
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}

const systemLookup = limited(SYSTEM_LOOKUPS_MAX, async (host: string) =>
  (await dns.lookup(host, { all: true })).map(({ address }) => address)
)

export function createLookup({
  servers,
  queryTimeoutMs = QUERY_TIMEOUT_MS
}: {
  servers?: string[]
  queryTimeoutMs?: number
} = {}): Lookup {
  return async (host) => {
    const name = host.replace(/\.$/, '')
    if (!name.includes('.')) return systemLookup(host)
    // A fresh resolver reads the system's name servers anew: a laptop changes networks, a server its resolv.conf.
    const resolver = new dns.Resolver({ timeout: queryTimeoutMs, tries: 2 })
    if (servers) resolver.setServers(servers)
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = [ipv4, ipv6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    const error: NodeJS.ErrnoException | undefined = ipv4.status === 'rejected' ? ipv4.reason : undefined
    if (MAYBE_LOCAL.has(error?.code ?? '')) return systemLookup(host)
    throw error ?? new Error(`${host} has no addresses`)
  }
}
