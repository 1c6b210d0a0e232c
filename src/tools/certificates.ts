/** X.509 certificates (EC P-256) from node:crypto and a small DER writer: for the development receiver and the tests. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate
} from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'

export interface PemPair {
  certPem: string
  keyPem: string
}

const DAY_MS = 86_400_000
/** Clocks of the two ends may differ a little; a certificate that starts an hour ago works for both. */
const SKEW_MS = 3_600_000

const OID = {
  commonName: [2, 5, 4, 3],
  ecdsaWithSha256: [1, 2, 840, 10045, 4, 3, 2],
  subjectKeyIdentifier: [2, 5, 29, 14],
  keyUsage: [2, 5, 29, 15],
  subjectAltName: [2, 5, 29, 17],
  basicConstraints: [2, 5, 29, 19],
  authorityKeyIdentifier: [2, 5, 29, 35],
  extendedKeyUsage: [2, 5, 29, 37],
  serverAuth: [1, 3, 6, 1, 5, 5, 7, 3, 1],
  clientAuth: [1, 3, 6, 1, 5, 5, 7, 3, 2]
} as const

function der(tag: number, ...contents: Buffer[]): Buffer {
  const body = Buffer.concat(contents)
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body])
  const hex = body.length.toString(16)
  const length = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex')
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body])
}

const sequence = (...items: Buffer[]) => der(0x30, ...items)
const set = (...items: Buffer[]) => der(0x31, ...items)
const octets = (value: Buffer) => der(0x04, value)
const bits = (value: Buffer, unused = 0) => der(0x03, Buffer.from([unused]), value)
const utf8 = (value: string) => der(0x0c, Buffer.from(value))
const yes = der(0x01, Buffer.from([0xff]))

/** A non-negative INTEGER; a leading zero keeps the sign bit clear. */
const integer = (value: Buffer) =>
  der(0x02, value[0] !== undefined && value[0] & 0x80 ? Buffer.concat([Buffer.alloc(1), value]) : value)

function oid(arcs: readonly number[]): Buffer {
  const [first = 0, second = 0, ...rest] = arcs
  const bytes = [first * 40 + second]
  for (const arc of rest) {
    const groups = [arc & 0x7f]
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80)
    bytes.push(...groups)
  }
  return der(0x06, Buffer.from(bytes))
}

/** RFC 5280 4.1.2.5: UTCTime through 2049, GeneralizedTime after. */
function time(ms: number): Buffer {
  const date = new Date(ms)
  const digits = `${date
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replace(/\D/g, '')}Z`
  return date.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits))
}

const commonName = (name: string) => sequence(set(sequence(oid(OID.commonName), utf8(name))))
const extension = (id: readonly number[], value: Buffer, critical = false) =>
  sequence(oid(id), ...(critical ? [yes] : []), octets(value))

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  // The URL parser writes IPv6 canonically: no embedded dots, at most one "::".
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const before = head.split(':').filter(Boolean)
  const after = (tail ?? '').split(':').filter(Boolean)
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex')
}

const altName = (host: string) =>
  isIPv4(host) || isIPv6(host) ? der(0x87, addressBytes(host)) : der(0x82, Buffer.from(host, 'ascii'))

/** The BIT STRING inside a SubjectPublicKeyInfo of an EC P-256 key is its last 65 bytes (RFC 5280 4.2.1.2 method 1). */
const keyIdentifier = (spki: Buffer) => createHash('sha1').update(spki.subarray(-65)).digest()

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

function newKey() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  return {
    spki: publicKey.export({ type: 'spki', format: 'der' }),
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  }
}

interface Certificate {
  subject: Buffer
  issuer: Buffer
  spki: Buffer
  notBefore: number
  notAfter: number
  extensions: Buffer[]
  signingKeyPem: string
}

function signCertificate({ subject, issuer, spki, notBefore, notAfter, extensions, signingKeyPem }: Certificate) {
  const algorithm = sequence(oid(OID.ecdsaWithSha256))
  const serial = randomBytes(16)
  serial[0] = (serial[0]! & 0x7f) | 0x40
  const toBeSigned = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    algorithm,
    issuer,
    sequence(time(notBefore), time(notAfter)),
    subject,
    spki,
    der(0xa3, sequence(...extensions))
  )
  return pem(sequence(toBeSigned, algorithm, bits(sign('sha256', toBeSigned, createPrivateKey(signingKeyPem)))))
}

/** The issuer of what an authority signs: its own subject, which has nothing but a common name. */
const subjectOf = ({ certPem }: PemPair) => commonName(String(new X509Certificate(certPem).toLegacyObject().subject.CN))

/** A certificate authority. `name` becomes its common name; authorities with different keys should differ in it. */
export function createAuthority({ name = 'Herald development CA', now = Date.now() } = {}): PemPair {
  const { spki, keyPem } = newKey()
  const subject = commonName(name)
  const certPem = signCertificate({
    subject,
    issuer: subject,
    spki,
    notBefore: now - SKEW_MS,
    notAfter: now + 3650 * DAY_MS,
    extensions: [
      extension(OID.basicConstraints, sequence(yes), true),
      // keyCertSign and cRLSign: bits 5 and 6.
      extension(OID.keyUsage, bits(Buffer.from([0b0000_0110]), 1), true),
      extension(OID.subjectKeyIdentifier, octets(keyIdentifier(spki)))
    ],
    signingKeyPem: keyPem
  })
  return { certPem, keyPem }
}

export interface CertificateRequest {
  /** DNS names and IP addresses, all as subject alternative names. */
  hosts: string[]
  /** Milliseconds since the epoch. */
  notBefore?: number
  notAfter?: number
  /** Signed with its own key instead of the authority's. */
  selfSigned?: boolean
}

/** A server certificate, valid for a year from now unless told otherwise. */
export function issueCertificate(
  authority: PemPair,
  { hosts, notBefore = Date.now() - SKEW_MS, notAfter = notBefore + 365 * DAY_MS, selfSigned }: CertificateRequest
): PemPair {
  const { spki, keyPem } = newKey()
  const subject = commonName((hosts[0] ?? 'localhost').slice(0, 64))
  const authoritySpki = createPublicKey(authority.keyPem).export({ type: 'spki', format: 'der' })
  const certPem = signCertificate({
    subject,
    issuer: selfSigned ? subject : subjectOf(authority),
    spki,
    notBefore,
    notAfter,
    extensions: [
      extension(OID.basicConstraints, sequence(), true),
      // digitalSignature: bit 0.
      extension(OID.keyUsage, bits(Buffer.from([0b1000_0000]), 7), true),
      extension(OID.extendedKeyUsage, sequence(oid(OID.serverAuth), oid(OID.clientAuth))),
      extension(OID.subjectAltName, sequence(...hosts.map(altName))),
      extension(OID.subjectKeyIdentifier, octets(keyIdentifier(spki))),
      extension(OID.authorityKeyIdentifier, sequence(der(0x80, keyIdentifier(selfSigned ? spki : authoritySpki))))
    ],
    signingKeyPem: selfSigned ? keyPem : authority.keyPem
  })
  return { certPem, keyPem }
}
