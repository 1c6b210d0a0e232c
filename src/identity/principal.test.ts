import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Principal, PrincipalApp, PrincipalUser } from './principal.ts'
import { permits } from './principal.ts'
import { ALL_SCOPES, lowerLevel, type PermissionLevel, parseScopes, SCOPES, scopeNamed } from './scopes.ts'

const app: PrincipalApp = {
  id: '1',
  name: 'demo',
  owner_user_id: null,
  project_id: '9',
  client_id: 'c',
  permissions: 'read-write-directmessages',
  products: [],
  ads_access: 'none',
  quotas: {},
  allow_lists: []
}
const user: PrincipalUser = { id: '42', username: 'ann', name: 'Ann', protected: false, allow_lists: [] }
const byApp: Principal = { kind: 'app', app }
const byOAuth1 = (permissions: PermissionLevel): Principal => ({ kind: 'user', via: 'oauth1', app, user, permissions })
const byOAuth2 = (scopes: string[], oauth1_permissions: PermissionLevel | null = null): Principal => ({
  kind: 'user',
  via: 'oauth2',
  app,
  user,
  scopes: new Set(scopes),
  oauth1_permissions
})

test('names the kind that was used and the kinds that are accepted', () => {
  assert.deepEqual(permits(byOAuth2(ALL_SCOPES), { accepts: ['app'] }), {
    permitted: false,
    reason: 'unsupported-authentication',
    used: 'OAuth 2.0 User Context',
    accepted: ['OAuth 2.0 Application-Only']
  })
  assert.deepEqual(permits(byApp, { accepts: ['oauth1', 'oauth2'] }), {
    permitted: false,
    reason: 'unsupported-authentication',
    used: 'OAuth 2.0 Application-Only',
    accepted: ['OAuth 1.0a User Context', 'OAuth 2.0 User Context']
  })
  assert.equal(permits(byApp, { accepts: ['app'] }).permitted, true)
  assert.equal(permits({ kind: 'admin' }, { accepts: ['app', 'oauth1', 'oauth2'] }).permitted, false)
})

test('asks a user through OAuth 2.0 for every scope, and one through OAuth 1.0a for a level', () => {
  const requirement = {
    accepts: ['oauth1', 'oauth2'],
    scopes: ['dm.read', 'tweet.read'],
    oauth1Level: 'read-write'
  } as const

  assert.equal(permits(byOAuth2(['dm.read', 'tweet.read', 'like.read']), requirement).permitted, true)
  assert.deepEqual(permits(byOAuth2(['tweet.read']), requirement), {
    permitted: false,
    reason: 'missing-scopes',
    missing: ['dm.read']
  })
  assert.equal(permits(byOAuth1('read-write'), requirement).permitted, true)
  assert.equal(permits(byOAuth1('read-write-directmessages'), requirement).permitted, true)
  assert.deepEqual(permits(byOAuth1('read'), requirement), {
    permitted: false,
    reason: 'insufficient-permissions',
    held: 'read',
    needed: 'read-write'
  })
})

test('lets OAuth 1.0a permissions replace the scopes where a route says so, for better or worse', () => {
  const plain = {
    accepts: ['oauth1', 'oauth2'],
    scopes: ['dm.read'],
    oauth1Level: 'read-write-directmessages'
  } as const
  const overriding = { ...plain, oauth1Overrides: true }

  assert.equal(permits(byOAuth2([], 'read-write-directmessages'), overriding).permitted, true)
  assert.equal(permits(byOAuth2(['dm.read'], 'read'), overriding).permitted, false)
  assert.equal(permits(byOAuth2(['dm.read'], null), overriding).permitted, true)
  assert.equal(permits(byOAuth2(['dm.read'], 'read'), plain).permitted, true)
})

test('reads a scope parameter once per scope, with the spelling of document 1 as an alias', () => {
  assert.deepEqual(parseScopes(' tweet.read  follow.read follows.read tweet.read nope '), {
    scopes: ['tweet.read', 'follows.read'],
    unknown: ['nope']
  })
  assert.equal(scopeNamed('constructor'), undefined)
  for (const scope of ['ads.read', 'ads.write', 'broadcast.read', 'broadcast.write', 'offline.access']) {
    assert.ok(scopeNamed(scope), scope)
  }
  for (const sentence of Object.values(SCOPES)) assert.match(sentence, /^[A-Z].*\.$/)
})

test('takes the lower of two permission levels', () => {
  assert.equal(lowerLevel('read-write', 'read'), 'read')
  assert.equal(lowerLevel('read-write', 'read-write-directmessages'), 'read-write')
})
