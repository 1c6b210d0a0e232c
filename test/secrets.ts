/** Secrets that tests create are remembered, so that nothing the run prints or answers may contain one. See scripts/test.ts. */
import { appendFileSync } from 'node:fs'

/** npm test names a file that all test processes append to. */
const FILE = process.env.HERALD_TEST_SECRETS_FILE

const known = new Set<string>()

export function noteSecrets(...secrets: (string | null | undefined)[]) {
  const fresh = secrets.filter(
    (secret): secret is string => typeof secret === 'string' && secret.length >= 16 && !known.has(secret)
  )
  for (const secret of fresh) known.add(secret)
  if (FILE && fresh.length > 0) appendFileSync(FILE, `${fresh.join('\n')}\n`)
}

export const secretIn = (text: string) => known.values().find((secret) => text.includes(secret))
