/** Writes of this domain: one transaction each, with who is asking; `validate_only` runs everything and keeps nothing. */
import { isoTime } from '../clock.ts'
import type { AdsContext, AdsRoute, AdsScope } from '../http/ads.ts'
import { about, bool, type Fields, type InputOf } from '../http/ads-input.ts'
import type { UserPrincipal } from '../http/auth.ts'
import type { Db, Tx } from '../storage/db.ts'
import { type AccountRow, getAccount } from './accounts.ts'

/** Whose change it is, for the account history. */
export interface Actor {
  user_id: string
  app_id: string | null
  platform: string
}

/** The console acts as an app without a row. */
const CONSOLE_APP_ID = '0'

/** Clients of the public API are one platform, the console is another. */
export const actorOf = ({ user, app }: UserPrincipal): Actor => ({
  user_id: user.id,
  app_id: app.id,
  platform: app.id === CONSOLE_APP_ID ? 'CONSOLE' : 'API_OTHER'
})

/** What a write needs beside its input. */
export interface Write {
  tx: Tx
  actor: Actor
  /** One moment for everything in it. */
  now: Date
  /** The account of the path, locked: writes of one account happen one after the other. See decisions/0057. */
  account: AccountRow
  /** Names of the allow-lists that hold the client application. */
  clientLists: readonly string[]
}

class Undo extends Error {
  readonly result: unknown
  constructor(result: unknown) {
    super('only validated')
    this.result = result
  }
}

/** Runs `act` in a transaction; with `validateOnly` the result is what would have been, and nothing stays. */
export async function transact<T>(db: Db, validateOnly: boolean, act: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await db.transaction().execute(async (tx) => {
      const result = await act(tx)
      if (validateOnly) throw new Undo(result)
      return result
    })
  } catch (error) {
    if (error instanceof Undo) return error.result as T
    throw error
  }
}

export const validateOnlyInput = {
  validate_only: about(bool(), 'Extension: check everything and answer as if, but change nothing.')
}

export interface WriteRoute<F extends Fields> extends Omit<AdsRoute<F>, 'handler'> {
  handler(ctx: AdsContext<InputOf<F>> & Write): Promise<unknown>
  /** After the commit, and only then. */
  committed?(ctx: AdsContext<InputOf<F>>): void
}

/** Waiting for the account's lock must not take a connection each: on this node, one at a time holds one. */
const queues = new Map<string, Promise<unknown>>()

async function inTurn<T>(accountId: string, act: () => Promise<T>): Promise<T> {
  const before = queues.get(accountId)
  const turn = (before ?? Promise.resolve()).then(act, act)
  const settled = turn.catch(() => {})
  queues.set(accountId, settled)
  try {
    return await turn
  } finally {
    if (queues.get(accountId) === settled) queues.delete(accountId)
  }
}

/** A transaction on an account: it is there, and nobody else writes to it meanwhile. */
export const transactOn = <T>(
  db: Db,
  accountId: string,
  validateOnly: boolean,
  act: (tx: Tx, account: AccountRow) => Promise<T>
) =>
  inTurn(accountId, () =>
    transact(db, validateOnly, async (tx) => act(tx, await getAccount(tx, accountId, { lock: true })))
  )

/** Declares a route that writes. */
export function writeRoute<F extends Fields = Record<never, never>>(scope: AdsScope, route: WriteRoute<F>) {
  const { handler, committed, ...declared } = route
  const { database, clock } = scope.deps
  scope.route({
    ...declared,
    input: { ...declared.input, ...validateOnlyInput } as F & typeof validateOnlyInput,
    handler: async (ctx) => {
      const { validate_only = false, ...input } = ctx.input as { validate_only?: boolean }
      const inner = { ...ctx, input } as unknown as AdsContext<InputOf<F>>
      const now = new Date(isoTime(clock.now()))
      const act = (tx: Tx, account: AccountRow) =>
        handler({
          ...inner,
          tx,
          now,
          account,
          actor: actorOf(ctx.principal),
          clientLists: ctx.principal.app.allow_lists
        })
      const accountId = ctx.path.account_id
      const result =
        accountId === undefined
          ? await transact(database.db, validate_only, (tx) => act(tx, undefined as unknown as AccountRow))
          : await transactOn(database.db, accountId, validate_only, act)
      if (!validate_only) committed?.(inner)
      return result
    }
  })
}
