/** Amounts in the currency and times in the reader's zone, with what they mean to the account beside them. */
import type { ComponentProps } from 'react'
import { TextField } from '../../ui/fields.tsx'
import { microsOf, money } from './money.ts'

type FieldProps = Omit<ComponentProps<typeof TextField>, 'type' | 'inputMode'>

export function MoneyField({ currency, label, hint, ...field }: FieldProps & { currency: string }) {
  const micros = microsOf(String(field.value ?? ''))
  return (
    <TextField
      {...field}
      label={currency ? `${label} (${currency})` : label}
      inputMode="decimal"
      autoComplete="off"
      className="num"
      hint={micros === null || !currency ? hint : <strong className="num">{money(BigInt(micros), currency)}</strong>}
    />
  )
}

/** What `microsOf` cannot read; nothing for an empty field. */
export const amountProblem = (typed: string) =>
  typed.trim() !== '' && microsOf(typed) === null ? 'Type an amount such as 25 or 25.50.' : undefined

/** As `datetime-local` has it, in the reader's zone. */
export function localOf(iso: string | null): string {
  if (iso === null) return ''
  const date = new Date(iso)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
export const isoOf = (local: string) => {
  const date = new Date(local)
  return local === '' || Number.isNaN(date.getTime()) ? '' : date.toISOString().replace(/\.\d+Z$/, 'Z')
}

/** Without a zone, in the reader's. */
export const inZone = (iso: string, timeZone?: string) =>
  new Intl.DateTimeFormat(undefined, {
    dateStyle: 'medium',
    timeStyle: 'short',
    ...(timeZone === undefined ? {} : { timeZone })
  }).format(new Date(iso))

/** `America/Los_Angeles` → `Los Angeles`. */
export const zoneName = (timeZone: string) => timeZone.split('/').at(-1)!.replaceAll('_', ' ')

export function TimeField({ zone, hint, ...field }: FieldProps & { zone: string }) {
  const iso = isoOf(String(field.value ?? ''))
  return (
    <TextField
      {...field}
      type="datetime-local"
      className="num"
      hint={iso ? `${inZone(iso, zone)} in ${zoneName(zone)}, the account’s zone` : hint}
    />
  )
}
