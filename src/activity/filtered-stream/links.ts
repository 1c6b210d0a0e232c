/** Links: webhooks that the posts matching an app's rules go to, each with its own fields. They end with their webhook. */
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { type Clock, isoTime } from '../../clock.ts'
import { APP_ONLY, type AppPrincipal } from '../../http/auth.ts'
import { invalidBecause } from '../../http/problems.ts'
import { Data, Id, Timestamp } from '../../http/v2.ts'
import { isOfActiveApp } from '../../identity/index.ts'
import type { PrincipalApp } from '../../identity/principal.ts'
import { type Db, violatedConstraint } from '../../storage/db.ts'
import { newId } from '../../storage/ids.ts'
import { getWebhook, webhookIdInvalid } from '../../webhooks/index.ts'
import {
  type FieldQuery,
  fieldsAsText,
  fieldsFromText,
  PostFields,
  type Selection,
  selectionOf
} from './post-fields.ts'

declare module '../../storage/db.ts' {
  interface Tables {
    filtered_links: { app_id: string; webhook_id: string; id: string; fields: string[]; created_at: Time }
  }
}

export interface LinkDeps {
  db: Db
  clock: Clock
}

export interface FoundLink {
  webhook_id: string
  selection: Selection
}

/** The links of these apps, by app. */
export async function findLinks(db: Db, appIds: readonly string[]): Promise<Map<string, FoundLink[]>> {
  const { rows } = await sql<{ app_id: string; webhook_id: string; fields: string[] }>`
    select app_id, webhook_id, fields from filtered_links
    where app_id = any(${appIds}::text[]) and ${isOfActiveApp('app_id')}`.execute(db)
  const byApp = new Map<string, FoundLink[]>()
  for (const { app_id, webhook_id, fields } of rows) {
    const link = { webhook_id, selection: selectionOf(fieldsFromText(fields)) }
    byApp.set(app_id, [...(byApp.get(app_id) ?? []), link])
  }
  return byApp
}

/** Linking again changes the fields. */
export async function linkWebhook({ db, clock }: LinkDeps, appId: string, webhookId: string, query: FieldQuery) {
  await getWebhook(db, appId, webhookId)
  const fields = fieldsAsText(query)
  await db
    .insertInto('filtered_links')
    .values({ app_id: appId, webhook_id: webhookId, id: newId(), fields, created_at: isoTime(clock.now()) })
    .onConflict((oc) => oc.columns(['app_id', 'webhook_id']).doUpdateSet({ fields }))
    .execute()
    .catch((error) => {
      // Deleted in between.
      if (violatedConstraint(error) === 'filtered_links_app_id_webhook_id_fkey') throw webhookIdInvalid(webhookId)
      throw error
    })
  return { provisioned: true }
}

export async function listLinks(db: Db, app: PrincipalApp) {
  const rows = await db
    .selectFrom('filtered_links')
    .selectAll()
    .where('app_id', '=', app.id)
    .orderBy('webhook_id', 'desc')
    .execute()
  return {
    links: rows.map(({ app_id, webhook_id, id, fields, created_at }) => ({
      application_id: app_id,
      ...(app.owner_user_id === null ? {} : { business_user_id: app.owner_user_id }),
      created_at,
      fields,
      instance_id: id,
      webhook_id
    }))
  }
}

export async function unlinkWebhook(db: Db, appId: string, webhookId: string) {
  const deleted = await db
    .deleteFrom('filtered_links')
    .where('app_id', '=', appId)
    .where('webhook_id', '=', webhookId)
    .returning('id')
    .executeTakeFirst()
  if (!deleted) {
    await getWebhook(db, appId, webhookId)
    throw invalidBecause('WebhookIdInvalid', `webhook ${webhookId} is not linked to the filtered stream`, {
      parameters: { webhook_id: [webhookId] }
    })
  }
  return { deleted: true }
}

const Path = Type.Object({ webhook_id: Id })
const FieldsQuery = Type.Object(PostFields)
const Link = Type.Object({
  application_id: Id,
  business_user_id: Type.Optional(Id),
  created_at: Timestamp,
  fields: Type.Array(Type.String()),
  instance_id: Id,
  webhook_id: Id
})
const tags = ['filtered stream']
const config = (name: string) => ({
  accepts: APP_ONLY,
  product: 'filtered_stream' as const,
  limit: { name: `v2.stream_links.${name}`, max: 450, windowSeconds: 900 }
})

export function linkRoutes(app: FastifyInstance, deps: LinkDeps) {
  app.post<{ Params: Static<typeof Path>; Querystring: FieldQuery }>(
    '/tweets/search/webhooks/:webhook_id',
    {
      schema: {
        summary: 'Send posts that match the rules to a webhook.',
        tags,
        params: Path,
        querystring: FieldsQuery,
        response: Data(Type.Object({ provisioned: Type.Boolean() }))
      },
      config: config('create')
    },
    async (req) => ({
      data: await linkWebhook(deps, (req.principal as AppPrincipal).app.id, req.params.webhook_id, req.query)
    })
  )

  // The second path is how one page of the public documentation spells it.
  for (const path of ['/tweets/search/webhooks', '/tweets/search/stream/webhooks']) {
    app.get(
      path,
      {
        schema: {
          summary: 'List the webhooks that matching posts are sent to.',
          tags,
          response: Data(Type.Object({ links: Type.Array(Link) }))
        },
        config: config('list')
      },
      async (req) => ({ data: await listLinks(deps.db, (req.principal as AppPrincipal).app) })
    )
  }

  app.delete<{ Params: Static<typeof Path> }>(
    '/tweets/search/webhooks/:webhook_id',
    {
      schema: {
        summary: 'Send no more posts to a webhook.',
        tags,
        params: Path,
        response: Data(Type.Object({ deleted: Type.Boolean() }))
      },
      config: config('delete')
    },
    async (req) => ({
      data: await unlinkWebhook(deps.db, (req.principal as AppPrincipal).app.id, req.params.webhook_id)
    })
  )
}
