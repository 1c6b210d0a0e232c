/** Notes: what a user adds to a post so that others understand it. See docs/decisions/0084. */
import { sql } from 'kysely'
import type { Clock } from '../../clock.ts'
import { notFound } from '../../errors.ts'
import { invalidBecause, invalidRequest, resourceNotFound } from '../../http/problems.ts'
import type { Db } from '../../storage/db.ts'
import { newId } from '../../storage/ids.ts'
import { textOf } from '../legacy.ts'
import { visibleTo } from '../posts/posts.ts'
import { claimOpinionScore, type TestResult, testResult, urlsIn } from './evaluate.ts'

export const CLASSIFICATIONS = ['misinformed_or_potentially_misleading', 'not_misleading'] as const
export const MISLEADING_TAGS = [
  'disputed_claim_as_fact',
  'factual_error',
  'manipulated_media',
  'misinterpreted_satire',
  'missing_important_context',
  'other',
  'outdated_information'
] as const
export const NOTE_STATUSES = [
  'currently_rated_helpful',
  'currently_rated_not_helpful',
  'firm_reject',
  'insufficient_consensus',
  'minimum_ratings_not_met',
  'needs_more_ratings',
  'needs_your_help'
] as const
export type NoteStatus = (typeof NOTE_STATUSES)[number]
/** What `note.fields` may name. */
export const NOTE_FIELDS = ['id', 'info', 'scoring_status', 'status', 'test_result'] as const
export type NoteField = (typeof NOTE_FIELDS)[number]

export interface NoteInfo {
  text: string
  classification: (typeof CLASSIFICATIONS)[number]
  misleading_tags: (typeof MISLEADING_TAGS)[number][]
  trustworthy_sources: boolean
  is_media_note?: boolean
}

export interface NewNote {
  test_mode: boolean
  post_id: string
  info: NoteInfo
}

declare module '../../storage/db.ts' {
  interface Tables {
    notes: Omit<NoteInfo, 'is_media_note'> & {
      user_id: string
      id: string
      test_mode: boolean
      post_id: string
      is_media_note: boolean | null
      status: NoteStatus | null
      test_result: TestResult | null
      created_at: Time
    }
  }
}

export interface NoteDeps {
  db: Db
  clock: Clock
}

/** The text of a post, if Herald knows it and this user may see it. */
async function textOfPost(db: Db, userId: string, postId: string): Promise<string> {
  const { rows } = await sql<{ payload: string }>`
    select p.payload from posts p where p.id = ${postId} and ${visibleTo(userId)}`.execute(db)
  if (!rows[0]) throw resourceNotFound('tweet', 'post_id', postId)
  return textOf((JSON.parse(rows[0].payload) as { text?: unknown }).text) ?? ''
}

export async function evaluateNote(db: Db, userId: string, input: { post_id: string; note_text: string }) {
  const postText = await textOfPost(db, userId, input.post_id)
  return { claim_opinion_score: claimOpinionScore(input.note_text, postText) }
}

export async function createNote({ db, clock }: NoteDeps, userId: string, { test_mode, post_id, info }: NewNote) {
  if (urlsIn(info.text).length === 0)
    throw invalidRequest({
      message: '$.info.text: must hold the URL of a source',
      parameters: { text: [info.text.slice(0, 200)] }
    })
  const postText = await textOfPost(db, userId, post_id)
  const written = await db
    .insertInto('notes')
    .values({
      user_id: userId,
      id: newId(),
      test_mode,
      post_id,
      ...info,
      is_media_note: info.is_media_note ?? null,
      status: test_mode ? null : 'needs_more_ratings',
      test_result: test_mode ? testResult(info.text, postText) : null,
      created_at: new Date(clock.now())
    })
    .onConflict((oc) => oc.constraint('notes_once').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!written) throw await duplicate(db, userId, test_mode, post_id)
  return written
}

async function duplicate(db: Db, userId: string, testMode: boolean, postId: string) {
  const first = await db
    .selectFrom('notes')
    .select('id as note_id')
    .where('user_id', '=', userId)
    .where('test_mode', '=', testMode)
    .where('post_id', '=', postId)
    .executeTakeFirst()
  return invalidBecause('DuplicateNoteFailed', `this user has written a note on post ${postId} already`, first)
}

const noNote = (id: string) => notFound('NOTE_NOT_FOUND', `There is no note ${id} of this user.`)

export async function deleteNote(db: Db, userId: string, id: string) {
  const deleted = await db
    .deleteFrom('notes')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
  if (!deleted) throw noNote(id)
  return { deleted: true }
}

/** The host platform has those who rate notes; it tells what became of one. Notes of test mode are not rated. */
export async function rateNote(db: Db, userId: string, id: string, status: NoteStatus) {
  const rated = await db
    .updateTable('notes')
    .set({ status })
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .where('test_mode', '=', false)
    .returning(['id', 'status'])
    .executeTakeFirst()
  if (!rated) throw noNote(id)
  return rated
}

export interface NotesQuery {
  test_mode: boolean
  'note.fields'?: readonly NoteField[]
}

/** What the user has written, newest first; with its id, and what it says unless other fields are named. */
export async function listNotes(
  db: Db,
  userId: string,
  query: NotesQuery,
  bound: { before?: string; after?: string; limit: number }
) {
  const fields: readonly string[] = query['note.fields'] ?? ['info']
  let notes = db.selectFrom('notes').selectAll().where('user_id', '=', userId).where('test_mode', '=', query.test_mode)
  if (bound.before !== undefined) notes = notes.where('id', '<', bound.before)
  if (bound.after !== undefined) notes = notes.where('id', '>', bound.after)
  const rows = await notes
    .orderBy('id', bound.after === undefined ? 'desc' : 'asc')
    .limit(bound.limit)
    .execute()
  return rows.map((row) => {
    const { id, text, classification, misleading_tags, trustworthy_sources, is_media_note, post_id } = row
    return {
      id,
      ...(fields.includes('info') && {
        info: {
          text,
          classification,
          misleading_tags,
          trustworthy_sources,
          ...(is_media_note !== null && { is_media_note }),
          post_id
        }
      }),
      ...(row.status !== null && fields.includes('status') && { status: row.status }),
      ...(row.status !== null && fields.includes('scoring_status') && { scoring_status: row.status }),
      ...(row.test_result !== null && fields.includes('test_result') && { test_result: row.test_result })
    }
  })
}
