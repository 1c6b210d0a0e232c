/** A server started with another secret key must find out before it answers anyone. */
import type { Db, Defaulted } from '../storage/db.ts'
import type { Vault } from './secrets.ts'

declare module '../storage/db.ts' {
  interface Tables {
    secret_key_check: { id: Defaulted<boolean>; sealed: Buffer }
  }
}

const PURPOSE = 'secret_key_check.sealed'
const WORD = 'herald'

/** Remembers the key on first use; afterwards throws, with a sentence for people, if it is not the one. */
export async function checkSecretKey(db: Db, vault: Vault) {
  await db
    .insertInto('secret_key_check')
    .values({ sealed: vault.encrypt(WORD, PURPOSE) })
    .onConflict((oc) => oc.doNothing())
    .execute()
  const { sealed } = await db.selectFrom('secret_key_check').select('sealed').executeTakeFirstOrThrow()
  try {
    vault.decrypt(sealed, PURPOSE)
  } catch (error) {
    throw new Error(
      'The secret key is not the one this database was set up with. Set HERALD_SECRET_KEY to that key, ' +
        'or put its key file back into the data directory; without it no stored secret can be read.',
      { cause: error }
    )
  }
}
