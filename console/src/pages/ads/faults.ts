/** What the API said about a request, for people: fields by their names, amounts in the currency. */
import { ApiProblem, type Fault } from '../../client/api.ts'
import { money } from './money.ts'
import { fieldName, isMoney } from './words.ts'

/** The field that a fault is about, as forms call it. */
const ALIASES: Record<string, string> = { promoted_product_type: 'placements' }
export const fieldOf = ({ parameter, attribute }: Fault) => {
  const name = parameter ?? attribute ?? ''
  return ALIASES[name] ?? name
}

export function faultSentence(fault: Fault, currency?: string): string {
  const name = fieldOf(fault)
  if (fault.code === 'MISSING_PARAMETER' && /^"[a-z_]+" is a required parameter$/.test(fault.message))
    return `${fieldName(name)} is needed.`
  if (/^A minimum of 1 items must be provided/.test(fault.message)) return 'Choose at least one.'
  let text = fault.message.replace(/^setting ([a-z_]+) is not allowed$/, '$1 cannot be set here')
  if (currency && isMoney(name)) text = text.replace(/\d{3,}/g, (micros) => money(BigInt(micros), currency))
  text = text.replace(/"?\b([a-z]+(?:_[a-z]+)+)\b"?/g, (_, field: string) => fieldName(field).toLowerCase())
  // The name of the parameter at the end says nothing that the place of the message does not say.
  text = text.replace(/ for [a-z’ ]+$/, (end) => (end === ` for ${fieldName(name).toLowerCase()}` ? '' : end))
  text = text.charAt(0).toUpperCase() + text.slice(1)
  const details = fault.details && !fault.details.includes('[') ? ` (${fault.details})` : ''
  return `${text}${details}${/[.!?)]$/.test(text + details) ? '' : '.'}`
}

/** By field; '' has what no field of the form is about. */
export function faultsByField(error: unknown, fields: ReadonlySet<string>, currency?: string): Map<string, string> {
  const found = new Map<string, string>()
  if (error === undefined || error === null) return found
  if (!(error instanceof ApiProblem) || error.faults.length === 0) {
    found.set('', error instanceof Error ? error.message : String(error))
    return found
  }
  for (const fault of error.faults) {
    const name = fields.has(fieldOf(fault)) ? fieldOf(fault) : ''
    const text = faultSentence(fault, currency)
    const known = found.get(name)
    found.set(name, known === undefined ? text : `${known} ${text}`)
  }
  return found
}
