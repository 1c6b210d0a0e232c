/** PostgreSQL refuses to run as root. These find somebody else to run it, and what that user may reach. */
import { readFile, realpath, stat } from 'node:fs/promises'
import path from 'node:path'

export interface SystemUser {
  name: string
  uid: number
  gid: number
}

const PREFERRED_USERS = ['postgres', 'nobody']

export const isRoot = () => process.getuid?.() === 0

export async function unprivilegedUser(): Promise<SystemUser> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  for (const name of PREFERRED_USERS) {
    const [, , uid, gid] = lines.find((fields) => fields[0] === name) ?? []
    // macOS writes nobody as -2, which is the unsigned 2^32 - 2.
    if (uid && gid) return { name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }
  }
  throw new Error(
    'PostgreSQL does not run as root, and this machine has neither a user "postgres" nor "nobody". ' +
      'Start Herald as an ordinary user, or set DATABASE_URL.'
  )
}

/** Whether the user may enter every directory on the way to a path and read what is there (and run it, if it is a program). */
export async function canReach(user: SystemUser, target: string, program = false): Promise<boolean> {
  const real = await realpath(target)
  const own = await stat(real)
  if (!allows(user, own, own.isDirectory() || program ? 0o5 : 0o4)) return false
  for (let directory = path.dirname(real); ; directory = path.dirname(directory)) {
    if (!allows(user, await stat(directory), 0o1)) return false
    if (directory === path.dirname(directory)) return true
  }
}

function allows(user: SystemUser, { mode, uid, gid }: { mode: number; uid: number; gid: number }, bits: number) {
  const granted = uid === user.uid ? mode >> 6 : gid === user.gid ? mode >> 3 : mode
  return (granted & bits) === bits
}
