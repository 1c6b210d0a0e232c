/** Reproducible chance: the same words give the same numbers on every machine. Not for secrets. */

/** 32 bits from text (FNV-1a with a finalizer). */
export function hash32(text: string, salt = 0): number {
  let h = 0x811c9dc5 ^ salt
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** A number in [0, 1) from text. */
export const unit = (text: string) => hash32(text) / 2 ** 32

/** A stream of numbers in (0, 1), never 0, so that its logarithm is finite (sfc32). */
export function stream(text: string): () => number {
  let [a, b, c, d] = [hash32(text, 1) | 0, hash32(text, 2) | 0, hash32(text, 3) | 0, 1]
  const next = () => {
    const t = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + t
    c |= 0
    return ((t >>> 0) + 0.5) / 2 ** 32
  }
  for (let i = 0; i < 12; i++) next()
  return next
}

/**
 * Calls `take` for a random share of the numbers in [from, to), ascending. Jumps over the gaps, so that the cost is that of
 * the numbers taken, not of the range.
 */
export function sample(next: () => number, from: number, to: number, share: number, take: (index: number) => void) {
  if (share <= 0) return
  if (share >= 1) {
    for (let i = from; i < to; i++) take(i)
    return
  }
  const scale = 1 / Math.log1p(-share)
  let i = from + Math.floor(Math.log(next()) * scale)
  while (i < to) {
    take(i)
    i += 1 + Math.floor(Math.log(next()) * scale)
  }
}

/** Draws an index with the given weights. */
export function chooser(weights: readonly number[]): (u: number) => number {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let sum = 0
  const upTo = Float64Array.from(weights, (weight) => {
    sum += weight / total
    return sum
  })
  return (u) => {
    let low = 0
    let high = weights.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if (u < upTo[middle]!) high = middle
      else low = middle + 1
    }
    return low
  }
}
