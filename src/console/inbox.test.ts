/** The built-in consumer, reached as any other: over HTTPS, through the guard. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../test/app.ts'
import { givenApp } from '../../test/given.ts'
import type { InboxRequest } from './inbox.ts'

const operator = (app: TestApp) => async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) =>
  app.apps.main.inject({
    method,
    url: `/admin${url}`,
    headers: { authorization: `Bearer ${app.adminToken}` },
    ...(payload ? { payload } : {})
  })

test('answers CRCs, takes events and tells both, without any other set-up', async (t) => {
  const app = await startApp(t, { HERALD_EGRESS_ALLOW_PRIVATE: '0' })
  await app.start()
  const admin = operator(app)
  const mine = await givenApp(app)
  const { url } = (await admin('GET', '/inbox')).json().data
  const received = async () => (await admin('GET', '/inbox/requests')).json().data as InboxRequest[]

  const registered = await app.apps.main.inject({
    method: 'POST',
    url: '/2/webhooks',
    headers: mine.headers,
    payload: { url: url.replace('{app_id}', mine.id) }
  })
  assert.equal(registered.statusCode, 200, registered.body)
  const { id } = registered.json().data
  const { delivery_id } = (await admin('POST', `/webhooks/${id}/test_event`, {})).json().data
  await app.drain()
  const [event, crc] = await received()
  assert.deepEqual(
    { what: crc?.what, signature: crc?.signature, answered: crc?.answered },
    { what: 'crc', signature: 'good', answered: 200 }
  )
  assert.deepEqual(
    {
      what: event?.what,
      delivery: event?.delivery_id,
      signatures: [event?.signature, event?.standard_signature],
      answered: event?.answered
    },
    { what: 'event', delivery: delivery_id, signatures: ['good', 'good'], answered: 200 }
  )
  assert.equal(JSON.parse(event!.body).test_event.webhook_id, id)
  assert.deepEqual((await admin('GET', `/inbox/requests?after=${event!.position}`)).json().data, [])

  await admin('PUT', '/inbox', { behaviour: 'lie' })
  const lied = (await admin('POST', `/webhooks/${id}/validate`)).json().data
  assert.equal(lied.valid, false)
  await admin('PUT', '/inbox', { behaviour: 'ok' })
  assert.equal((await admin('POST', `/webhooks/${id}/validate`)).json().data.valid, true)

  await admin('DELETE', '/inbox/requests')
  assert.deepEqual(await received(), [])
})

test('is not there on a server that others may reach', async (t) => {
  const app = await startApp(t, { HERALD_DEV_LISTENER: 'off' })
  const admin = operator(app)

  assert.equal((await admin('GET', '/inbox')).json().data.available, false)
  assert.equal((await admin('PUT', '/inbox', { behaviour: 'ok' })).statusCode, 403)
})
