/** Files of the API for the reader's disk. A plain link would come without the header that makes a session count. */
import { ApiProblem } from '../../client/api.ts'

export async function download(path: string, name: string, progress: (bytes: number) => void = () => {}) {
  const response = await fetch(path, { headers: { 'x-herald-console': '1' }, credentials: 'same-origin' })
  if (!response.ok || !response.body) {
    const fault = (await response.json().catch(() => ({}))) as { errors?: { message: string }[] }
    throw new ApiProblem(response.status, fault.errors?.[0]?.message ?? 'The file could not be fetched.', [], null)
  }
  const parts: BlobPart[] = []
  let bytes = 0
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read()
    if (done) break
    parts.push(value)
    bytes += value.byteLength
    progress(bytes)
  }
  const url = URL.createObjectURL(new Blob(parts, { type: response.headers.get('content-type') ?? '' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
