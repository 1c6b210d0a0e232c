/** A file of the reader's, made ready to be sent as a sample: unpacked, decoded, and no longer than a request may be. */

/** Requests end at 5 MB; quotes and line ends take two characters in JSON. */
const REQUEST_BYTES_MAX = 4_800_000

export const formatOf = (name: string) => {
  const ending = /\.(csv|tsv|xml|rss|txt)(\.gz)?(?:$|[?#])/i.exec(name)?.[1]?.toLowerCase()
  return ending === undefined ? undefined : ending === 'txt' ? 'TSV' : ending === 'rss' ? 'XML' : ending.toUpperCase()
}

async function unpacked(file: File): Promise<ReadableStream<Uint8Array>> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  if (first !== 0x1f || second !== 0x8b) return file.stream()
  return file.stream().pipeThrough(new DecompressionStream('gzip'))
}

const sentBytes = (text: string) => new TextEncoder().encode(JSON.stringify(text)).length

/** The whole file, or as many whole rows of its beginning as fit into a request. */
export async function beginningOf(file: File, format: string): Promise<{ text: string; isWhole: boolean }> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let read = 0
  let ended = false
  for (const reader = (await unpacked(file)).getReader(); read <= REQUEST_BYTES_MAX; ) {
    const { done, value } = await reader.read()
    ended = done
    if (done) break
    chunks.push(new Uint8Array(value))
    read += value.byteLength
  }
  let text: string
  try {
    // A cut may fall into a character, so the end is not judged unless it is the end of the file.
    text = new TextDecoder('utf-8', { fatal: true }).decode(await new Blob(chunks).arrayBuffer(), { stream: !ended })
  } catch {
    throw new Error('The file is not UTF-8. Save it as UTF-8 and try again.')
  }
  if (ended && sentBytes(text) <= REQUEST_BYTES_MAX) return { text, isWhole: true }
  if (format === 'XML') throw new Error('An XML file of this size cannot be checked in part. Give its address instead.')
  while (sentBytes(text) > REQUEST_BYTES_MAX) {
    const share = REQUEST_BYTES_MAX / sentBytes(text)
    const cut = text.lastIndexOf('\n', Math.floor(text.length * share * 0.98))
    if (cut <= 0)
      throw new Error('The first row is larger than a request may be. Give the address of the file instead.')
    text = text.slice(0, cut + 1)
  }
  return { text: ended ? text : text.slice(0, text.lastIndexOf('\n') + 1), isWhole: false }
}
