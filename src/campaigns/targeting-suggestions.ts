/** What else could be targeted: topics near the given keywords, publishers beside the given users. */
import type { Reference } from './reference-store.ts'
import { folded } from './wire.ts'

/** `Books and literature/Biographies and memoirs` → its last part. */
const topic = (name: string) => folded(name.split('/').at(-1)!)

function keywordsNear({ rows }: Reference, values: readonly string[]): string[] {
  const words = values.map(folded)
  const interests = rows('interests')
  const groups = new Set(
    interests
      .filter(({ name }) => words.some((word) => folded(name).includes(word)))
      .map(({ name }) => name.split('/')[0])
  )
  const siblings = interests.filter(({ name }) => groups.has(name.split('/')[0]!)).map(({ name }) => topic(name))
  const topics = rows('conversations')
    .map(({ name }) => folded(name))
    .filter((name) => words.some((word) => name.includes(word)))
  return [...siblings, ...topics].filter((each) => !words.includes(each))
}

function usersBeside({ rows }: Reference, values: readonly string[]): string[] {
  return rows('curated_categories')
    .filter(({ publisher_user_ids }) => values.some((value) => publisher_user_ids.includes(value)))
    .flatMap(({ publisher_user_ids }) => publisher_user_ids)
    .filter((each) => !values.includes(each))
}

export const suggest = (reference: Reference, type: 'KEYWORD' | 'USER_ID', values: readonly string[]) =>
  [...new Set((type === 'KEYWORD' ? keywordsNear : usersBeside)(reference, values))].map((suggestion_value) => ({
    suggestion_type: type,
    suggestion_value
  }))
