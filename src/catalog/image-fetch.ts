/** Looks at one image: its type, its size in pixels, its size in bytes. Reads no more of it than that takes. */
import type { Egress } from '../egress/index.ts'
import { IMAGE_BYTES_MAX, IMAGE_PIXELS_MIN, imageInfo } from './images.ts'

/** What is wrong with an image; `rule` continues the sentence "image_link "…" …". */
export interface ImageProblem {
  code: 'IMAGE_TYPE' | 'IMAGE_TOO_SMALL' | 'IMAGE_TOO_LARGE' | 'IMAGE_UNREACHABLE' | 'IMAGE_ADDRESS_REFUSED'
  rule: string
  /** It may be otherwise in an hour. */
  transient?: boolean
}

const DEADLINE_MS = 30_000
const IDLE_MS = 10_000

const TOO_LARGE: ImageProblem = {
  code: 'IMAGE_TOO_LARGE',
  rule: `is larger than ${IMAGE_BYTES_MAX / 1024 ** 2} MB. Use a smaller file.`
}
const NO_IMAGE: ImageProblem = { code: 'IMAGE_TYPE', rule: 'is not a JPG, GIF, WEBP or PNG image. Convert it.' }

const unreachable = (why: string, transient: boolean): ImageProblem => ({
  code: 'IMAGE_UNREACHABLE',
  rule: `could not be fetched: ${why}. Check the address.`,
  ...(transient ? { transient } : {})
})

/** Null when the image is right. */
export async function lookAtImage(egress: Egress, url: string, signal?: AbortSignal): Promise<ImageProblem | null> {
  const outcome = await egress.stream({
    url,
    method: 'GET',
    headers: { accept: 'image/jpeg, image/png, image/webp, image/gif', 'user-agent': 'Herald image check' },
    schemes: ['http', 'https'],
    deadlineMs: DEADLINE_MS,
    idleMs: IDLE_MS,
    bytesMax: IMAGE_BYTES_MAX,
    decompress: false,
    decompressedBytesMax: IMAGE_BYTES_MAX,
    ...(signal ? { signal } : {})
  })
  if (outcome.kind === 'failure') return failureProblem(outcome)
  const { status, headers, body } = outcome
  if (status !== 200) {
    body.destroy()
    return unreachable(`the host answers ${status}`, status >= 500 || status === 408 || status === 429)
  }
  try {
    return await readImage(body, headers['content-length'] !== undefined)
  } catch (error) {
    if (signal?.aborted) throw error
    return failureProblem(error as { code: string; class: string; message: string })
  } finally {
    body.destroy()
  }
}

function failureProblem({
  code,
  class: kind,
  message
}: {
  code: string
  class: string
  message: string
}): ImageProblem {
  if (code === 'TOO_LARGE') return TOO_LARGE
  if (kind === 'refused')
    return { code: 'IMAGE_ADDRESS_REFUSED', rule: `is refused: ${message}. Use a public address.` }
  return unreachable(message, kind === 'transient')
}

/** If the host says how large the file is, the header of the image is enough; otherwise it is read to be measured. */
async function readImage(body: AsyncIterable<Buffer>, isMeasured: boolean): Promise<ImageProblem | null> {
  let head: Buffer = Buffer.alloc(0)
  let problem: ImageProblem | null | undefined
  for await (const chunk of body) {
    if (problem === undefined) {
      head = Buffer.concat([head, chunk])
      problem = judge(head)
    }
    if (problem !== undefined && (problem !== null || isMeasured)) return problem
  }
  return problem === undefined ? NO_IMAGE : problem
}

function judge(head: Buffer): ImageProblem | null | undefined {
  const info = imageInfo(head)
  if (info === 'need more bytes') return undefined
  if (info === 'not an image') return NO_IMAGE
  if (info.width >= IMAGE_PIXELS_MIN && info.height >= IMAGE_PIXELS_MIN) return null
  const least = `${IMAGE_PIXELS_MIN} × ${IMAGE_PIXELS_MIN}`
  const rule = `has ${info.width} × ${info.height} pixels: at least ${least} are needed. Use a larger image.`
  return { code: 'IMAGE_TOO_SMALL', rule }
}
