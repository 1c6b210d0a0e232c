/** Product images for the pages of the console, which show pictures of this origin alone. See decisions/0073. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../deps.ts'
import type { Egress } from '../egress/index.ts'
import { notFound } from '../errors.ts'
import type { Environment } from '../http/ads.ts'
import { pictureSession } from '../http/browser-session.ts'
import { ALLOW_LISTS } from '../identity/index.ts'
import type { Database } from '../storage/db.ts'
import { IMAGE_BYTES_MAX, type ImageInfo, imageInfo } from './images.ts'

/** So many at once, of one person and of all: a page full of pictures must not take the memory of the process. */
const IN_FLIGHT_MAX = 24
const IN_FLIGHT_OF_ONE_MAX = 8
const WAITING_MAX = 200
const DEADLINE_MS = 10_000
const IDLE_MS = 5_000
const TYPES: Record<ImageInfo['type'], string> = {
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  png: 'image/png'
}

/** The n-th image of a product that this user may read: 0 is image_link, the others are additional ones. */
const FIND = `
  select case when $5 = 0 then p.image_link else split_part(p.additional_image_link, ',', $5) end as url
  from products p join product_catalogs c on c.id = p.catalog_id
  where p.catalog_id = $1 and p.product_key = $2 and c.environment = $3 and (c.user_id = $4
    or exists (select from catalog_delegates d where d.owner_user_id = c.user_id and d.user_id = $4))`

interface PicturePath {
  listener: Environment
  catalog_id: string
  product_key: string
  position: string
}

async function findUrl({ pool }: Database, path: PicturePath, userId: string): Promise<string | undefined> {
  const { listener, catalog_id, product_key, position } = path
  const { rows } = await pool.query<{ url: string | null }>({
    name: 'catalog.picture',
    text: FIND,
    values: [catalog_id, product_key, listener, userId, Number(position)]
  })
  return rows[0]?.url || undefined
}

/** The whole file if it is an image of the kinds that products may have; undefined otherwise, for whatever reason. */
async function fetchPicture(egress: Egress, url: string) {
  const outcome = await egress.stream({
    url,
    method: 'GET',
    headers: { accept: 'image/jpeg, image/png, image/webp, image/gif', 'user-agent': 'Herald console' },
    schemes: ['http', 'https'],
    deadlineMs: DEADLINE_MS,
    idleMs: IDLE_MS,
    bytesMax: IMAGE_BYTES_MAX,
    decompress: false,
    decompressedBytesMax: IMAGE_BYTES_MAX
  })
  if (outcome.kind === 'failure') return undefined
  const { status, body } = outcome
  try {
    if (status !== 200) return undefined
    const chunks: Buffer[] = []
    let info = imageInfo(Buffer.alloc(0))
    for await (const chunk of body) {
      chunks.push(chunk)
      if (info === 'need more bytes') info = imageInfo(chunks.length === 1 ? chunk : Buffer.concat(chunks))
      if (info === 'not an image') return undefined
    }
    return typeof info === 'string' ? undefined : { type: TYPES[info.type], bytes: Buffer.concat(chunks) }
  } catch {
    return undefined
  } finally {
    body.destroy()
  }
}

type Turns = <T>(act: () => Promise<T>) => Promise<T | undefined>

/** Undefined for those who would have to wait behind too many. */
function createTurns(inFlightMax: number, waitingMax: number, onIdle = () => {}): Turns {
  const waiting: (() => void)[] = []
  let inFlight = 0
  return async (act) => {
    if (inFlight >= inFlightMax) {
      if (waiting.length >= waitingMax) return undefined
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else inFlight++
    try {
      return await act()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else if (--inFlight === 0) onIdle()
    }
  }
}

/** Whoever looks at a slow shop waits for it alone. */
function createFairTurns() {
  const all = createTurns(IN_FLIGHT_MAX, WAITING_MAX)
  const byPerson = new Map<string, Turns>()
  return <T>(person: string, act: () => Promise<T>): Promise<T | undefined> => {
    let turns = byPerson.get(person)
    if (!turns) {
      turns = createTurns(IN_FLIGHT_OF_ONE_MAX, WAITING_MAX, () => byPerson.delete(person))
      byPerson.set(person, turns)
    }
    return turns(() => all(act))
  }
}

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  vary: 'cookie'
}

export function pictureRoutes(app: FastifyInstance, deps: Deps) {
  const { database, egress, authenticator } = deps
  const inTurn = createFairTurns()

  /** A picture that cannot be shown is no error of the page: there is none, and the page shows a placeholder. */
  const none = (reply: FastifyReply, cacheSeconds: number) =>
    reply.code(204).header('cache-control', `private, max-age=${cacheSeconds}`).send()

  app.get<{ Params: PicturePath }>(
    '/console/pictures/:listener/:catalog_id/:product_key/:position',
    { schema: { hide: true } },
    async (req: FastifyRequest<{ Params: PicturePath }>, reply) => {
      const { listener, catalog_id, product_key, position } = req.params
      const token = pictureSession(req)
      const user = token === undefined ? undefined : (await authenticator.person(token))?.user
      const isAddress =
        /^(production|sandbox)$/.test(listener) &&
        [catalog_id, product_key].every((id) => /^[0-9]{1,19}$/.test(id)) &&
        /^([0-9]|10)$/.test(position)
      const url =
        isAddress && user?.allow_lists.includes(ALLOW_LISTS.catalogEarlyAccess)
          ? await findUrl(database, req.params, user.id)
          : undefined
      if (!user || url === undefined) throw notFound('NOT_FOUND', 'There is no picture here that you may see.')
      reply.headers(HEADERS)
      const isGone = () => req.raw.destroyed || reply.raw.destroyed
      const picture = await inTurn(user.id, async () => (isGone() ? undefined : fetchPicture(egress, url)))
      if (!picture) return none(reply, 60)
      return reply.header('cache-control', 'private, max-age=3600').type(picture.type).send(picture.bytes)
    }
  )
}
