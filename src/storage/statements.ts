/** Plain SQL for hot paths: text with numbered parameters, prepared under a name where the same text comes again and again. */
import { CompiledQuery } from 'kysely'
import type { Database, Db } from './db.ts'

/** A piece of SQL with its values: fragment`e.name >= ${from}`. Values are never part of the text. */
export interface Fragment {
  strings: readonly string[]
  values: readonly unknown[]
}

export const fragment = (strings: TemplateStringsArray, ...values: unknown[]): Fragment => ({ strings, values })

export interface Statement {
  text: string
  values: unknown[]
}

/** Puts text and fragments together; parameters are numbered as they come. */
export function statement(parts: readonly (string | Fragment)[]): Statement {
  let text = ''
  const values: unknown[] = []
  for (const part of parts) {
    if (typeof part === 'string') text += part
    else {
      text += part.strings[0]
      for (const [i, value] of part.values.entries()) text += `$${values.push(value)}${part.strings[i + 1]}`
    }
  }
  return { text, values }
}

/** Each connection keeps a plan per name, so there must not be many of them. */
const NAMES_MAX = 200
const names = new Map<string, string>()

function nameOf(text: string) {
  const known = names.get(text)
  if (known !== undefined || names.size >= NAMES_MAX) return known
  const name = `statement.${names.size}`
  names.set(text, name)
  return name
}

/** In a transaction as it is; on the pool prepared, if `prepare` says that the text comes often. */
export async function run<Row>(on: Database | Db, { text, values }: Statement, prepare = false): Promise<Row[]> {
  if (!('pool' in on)) return (await on.executeQuery<Row>(CompiledQuery.raw(text, values))).rows
  const name = prepare ? nameOf(text) : undefined
  const { rows } = await on.pool.query(name === undefined ? { text, values } : { name, text, values })
  return rows as Row[]
}
