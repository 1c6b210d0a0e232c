/** What `herald listen` leaves in the data directory, and how a server on the same machine finds it. See decisions/0029. */
import { X509Certificate } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { FindReceiver } from '../egress/index.ts'
import { createAuthority, issueCertificate, type PemPair } from './certificates.ts'

/** Nobody can own this name: `.test` is reserved (RFC 6761). */
export const LISTEN_HOST = 'listen.herald.test'
const LISTEN_ADDRESS = '127.0.0.1'

const CA_FILE = 'listen-ca.pem'
const CERTIFICATE_FILE = 'listen-cert.pem'
const KEY_FILE = 'listen-key.pem'
const RUNNING_FILE = 'listen.json'
/** Made anew when less than this is left. */
const RENEW_BEFORE_MS = 7 * 86_400_000

export interface ListenCertificate extends PemPair {
  caPem: string
  caFile: string
}

const isNotThere = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT'

/** Whole or not at all: a server may read at any moment. */
async function replaceFile(file: string, text: string, mode: number) {
  const unfinished = `${file}.${process.pid}`
  await writeFile(unfinished, text, { mode })
  await rename(unfinished, file)
}

/**
 * The certificate of the receiver, kept and used again. The key of its authority is thrown away once it has signed, so
 * that what the server trusts can never vouch for anything else.
 */
export async function listenCertificate(dataDir: string, nowMs: number): Promise<ListenCertificate> {
  await mkdir(dataDir, { recursive: true })
  const at = (name: string) => path.join(dataDir, name)
  const kept = await readCertificate(dataDir)
  if (kept && isUsable(kept, nowMs)) return { ...kept, caFile: at(CA_FILE) }
  const authority = createAuthority({ name: `herald listen ${new Date(nowMs).toISOString()}`, now: nowMs })
  const hosts = [LISTEN_HOST, 'localhost', LISTEN_ADDRESS]
  const { certPem, keyPem } = issueCertificate(authority, { hosts, notBefore: nowMs - 3_600_000 })
  await replaceFile(at(KEY_FILE), keyPem, 0o600)
  await replaceFile(at(CERTIFICATE_FILE), certPem, 0o644)
  await replaceFile(at(CA_FILE), authority.certPem, 0o644)
  return { certPem, keyPem, caPem: authority.certPem, caFile: at(CA_FILE) }
}

async function readCertificate(dataDir: string) {
  try {
    const [certPem, keyPem, caPem] = await Promise.all(
      [CERTIFICATE_FILE, KEY_FILE, CA_FILE].map((name) => readFile(path.join(dataDir, name), 'utf8'))
    )
    return { certPem: certPem!, keyPem: keyPem!, caPem: caPem! }
  } catch (error) {
    if (isNotThere(error)) return undefined
    throw error
  }
}

/** Another start may have died between two files. */
function isUsable({ certPem, caPem }: { certPem: string; caPem: string }, nowMs: number) {
  try {
    const certificate = new X509Certificate(certPem)
    const authority = new X509Certificate(caPem)
    return (
      certificate.verify(authority.publicKey) &&
      certificate.checkHost(LISTEN_HOST) !== undefined &&
      Date.parse(certificate.validTo) > nowMs + RENEW_BEFORE_MS
    )
  } catch {
    return false
  }
}

/** Tells servers on this machine where the receiver is; the function it returns takes that back. */
export async function announceListener(dataDir: string, port: number): Promise<() => Promise<void>> {
  const file = path.join(dataDir, RUNNING_FILE)
  const text = `${JSON.stringify({ host: LISTEN_HOST, port, pid: process.pid })}\n`
  await replaceFile(file, text, 0o644)
  return async () => {
    // Another receiver may have taken over since.
    if ((await readFile(file, 'utf8').catch(() => '')) === text) await rm(file, { force: true })
  }
}

/** Read whenever a connection is made: a receiver may start, stop or move at any time. */
export const findListener =
  (dataDir: string): FindReceiver =>
  async (host) => {
    if (host !== LISTEN_HOST) return undefined
    try {
      const { port } = JSON.parse(await readFile(path.join(dataDir, RUNNING_FILE), 'utf8')) as { port?: unknown }
      if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535) return null
      return { address: LISTEN_ADDRESS, port, ca: await readFile(path.join(dataDir, CA_FILE), 'utf8') }
    } catch {
      return null
    }
  }

/** `auto`: only on a machine of one's own, with the built-in database and no listener that others could reach. */
export function mayReachListener(config: { HERALD_DEV_LISTENER: string; DATABASE_URL: string; HERALD_HOST: string }) {
  if (config.HERALD_DEV_LISTENER !== 'auto') return config.HERALD_DEV_LISTENER === 'on'
  return config.DATABASE_URL === '' && /^(127\.|::1$|localhost$)/.test(config.HERALD_HOST)
}
