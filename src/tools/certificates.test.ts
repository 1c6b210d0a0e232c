import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { createAuthority, issueCertificate, type PemPair } from './certificates.ts'

const authority = createAuthority({ name: 'Herald test CA' })

async function listen(t: TestContext, { certPem, keyPem }: PemPair) {
  const server = tls.createServer({ cert: certPem, key: keyPem }, (socket) => {
    socket.on('error', () => {})
    socket.end('hello')
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

/** What a client that trusts the authority makes of the certificate: the greeting, or the verification error. */
async function greet(t: TestContext, pair: PemPair, host: string, ca = authority.certPem) {
  const port = await listen(t, pair)
  const servername = /^[\d.:a-f]+$/.test(host) ? undefined : host
  const socket = tls.connect({
    host: '127.0.0.1',
    port,
    servername,
    ca,
    checkServerIdentity: (_, cert) => tls.checkServerIdentity(host, cert)
  })
  try {
    const [greeting] = await once(socket, 'data')
    return String(greeting)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  } finally {
    socket.destroy()
  }
}

test('a client that trusts the authority talks to every host of the certificate', async (t) => {
  const pair = issueCertificate(authority, { hosts: ['hooks.example.test', '*.wild.test', '127.0.0.1', 'fd00::1'] })

  assert.equal(await greet(t, pair, 'hooks.example.test'), 'hello')
  assert.equal(await greet(t, pair, 'a.wild.test'), 'hello')
  assert.equal(await greet(t, pair, '127.0.0.1'), 'hello')
  assert.equal(await greet(t, pair, 'fd00::1'), 'hello')
})

test('a client refuses another host, an expired, a future, a self-signed and a foreign certificate', async (t) => {
  const hosts = ['hooks.example.test']
  const host = 'hooks.example.test'
  const day = 86_400_000
  const now = Date.now()

  assert.equal(
    await greet(t, issueCertificate(authority, { hosts }), 'other.example.test'),
    'ERR_TLS_CERT_ALTNAME_INVALID'
  )
  assert.equal(
    await greet(t, issueCertificate(authority, { hosts, notBefore: now - 2 * day, notAfter: now - day }), host),
    'CERT_HAS_EXPIRED'
  )
  assert.equal(await greet(t, issueCertificate(authority, { hosts, notBefore: now + day }), host), 'CERT_NOT_YET_VALID')
  assert.equal(
    await greet(t, issueCertificate(authority, { hosts, selfSigned: true }), host),
    'DEPTH_ZERO_SELF_SIGNED_CERT'
  )
  const other = createAuthority({ name: 'Another CA' })
  assert.equal(await greet(t, issueCertificate(other, { hosts }), host), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE')
})

test('writes what it was asked for, in the encoding X.509 readers expect', () => {
  const notBefore = Date.UTC(2049, 11, 31, 23, 59, 58)
  const notAfter = Date.UTC(2050, 0, 1, 0, 0, 1)
  const { certPem, keyPem } = issueCertificate(authority, {
    hosts: ['a.test', '10.0.0.1', '2001:db8::ffff:1'],
    notBefore,
    notAfter
  })

  const certificate = new X509Certificate(certPem)

  assert.equal(certificate.subjectAltName, 'DNS:a.test, IP Address:10.0.0.1, IP Address:2001:DB8:0:0:0:0:FFFF:1')
  assert.equal(certificate.validFromDate.getTime(), notBefore)
  assert.equal(certificate.validToDate.getTime(), notAfter)
  assert.equal(certificate.ca, false)
  assert.ok(certificate.checkIssued(new X509Certificate(authority.certPem)))
  assert.ok(certificate.verify(new X509Certificate(authority.certPem).publicKey))
  assert.ok(new X509Certificate(authority.certPem).ca)
  assert.match(keyPem, /BEGIN PRIVATE KEY/)
})
