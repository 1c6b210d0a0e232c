/** From what stands in the fields of a form to what is sent. */
import { isoOf } from './inputs.tsx'
import { microsOf } from './money.ts'
import { isMoney, isTime } from './words.ts'

type Values = Record<string, string>

const parameter = (name: string, value: string) =>
  value === '' ? '' : isMoney(name) ? (microsOf(value) ?? value) : isTime(name) ? isoOf(value) : value

/** What is new to the server: all that is not empty, or (of something that exists) what differs; empty un-sets. */
export function parameters(values: Values, before?: Values): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values)
      .map(([name, value]) => [name, value.trim()] as const)
      .filter(([name, value]) => (before === undefined ? value !== '' : value !== before[name]?.trim()))
      .map(([name, value]) => [name, parameter(name, value)])
  )
}
