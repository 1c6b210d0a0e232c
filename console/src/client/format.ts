/** Numbers, times and durations as people read them. */

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const percents = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })

export const count = (value: number | bigint) => whole.format(value)
export const compact = (value: number) => (Math.abs(value) < 10_000 ? whole.format(value) : short.format(value))
/** Per second: as many digits as matter. */
export const rate = (value: number) =>
  value >= 10_000 ? compact(value) : String(Number(value.toFixed(value >= 100 ? 0 : value >= 1 ? 1 : 2)))
export const percent = (share: number) => percents.format(Math.abs(share) > 0.999 && share < 1 ? 0.999 : share)
export const plural = (n: number, one: string, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`

export function milliseconds(ms: number) {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`
  return duration(ms)
}

export function duration(ms: number) {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} days`
}

const clockTime = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const dayAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const dayOnly = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

export const localTime = (iso: string) => dayAndTime.format(new Date(iso))
export const localDay = (iso: string) => dayOnly.format(new Date(iso))
export function localShort(iso: string) {
  const date = new Date(iso)
  return date.toDateString() === new Date().toDateString() ? clockTime.format(date) : dayAndTime.format(date)
}
export const utc = (iso: string) => `${iso.replace('T', ' ').replace(/(\.\d+)?Z$/, '')} UTC`

/** "3 min ago", "in 2 h". */
export function relative(iso: string, nowMs: number) {
  const ms = Date.parse(iso) - nowMs
  if (Math.abs(ms) < 5_000) return 'now'
  return ms < 0 ? `${duration(-ms)} ago` : `in ${duration(ms)}`
}

export function bytes(n: number) {
  if (n < 1_000) return `${n} B`
  if (n < 1_000_000) return `${(n / 1_000).toFixed(1)} KB`
  return n < 1_000_000_000 ? `${(n / 1_000_000).toFixed(1)} MB` : `${(n / 1_000_000_000).toFixed(2)} GB`
}
