/** Makes the database files, once. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Binaries } from './binaries.ts'
import type { Place } from './place.ts'
import type { SystemUser } from './system-user.ts'

export const DATABASE_USER = 'herald'
export const DATABASE_NAME = 'herald'

/** Where Unix sockets cannot be used, connections go over loopback and need the password in this file. */
const passwordFile = (place: Place) => path.join(place.home, 'password')
export const readPassword = async (place: Place) => (await readFile(passwordFile(place), 'utf8')).trim()

export interface ClusterOptions {
  transport: 'socket' | 'tcp'
  /** False only for tests: a machine that loses power may lose the cluster. */
  durable: boolean
}

/** Returns whether the cluster is new. Built beside its place and renamed, so a half-made one is never used. */
export async function ensureCluster(place: Place, binaries: Binaries, { transport, durable }: ClusterOptions) {
  const major = await readFile(path.join(place.cluster, 'PG_VERSION'), 'utf8').catch(() => undefined)
  if (major !== undefined) {
    if (major.trim() === binaries.major) return false
    throw new Error(
      `The database in ${place.cluster} was made by PostgreSQL ${major.trim()}; this Herald brings ${binaries.major}. ` +
        'Run the earlier Herald and move the data, or run "npm run reset" to begin anew.'
    )
  }
  const unfinished = `${place.cluster}.${process.pid}`
  await rm(unfinished, { recursive: true, force: true })
  const options = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  options.push(`--username=${DATABASE_USER}`, '--no-instructions', ...(durable ? [] : ['--no-sync']))
  if (transport === 'tcp') {
    await writeFile(passwordFile(place), randomBytes(24).toString('base64url'), { mode: 0o600 })
    if (place.user) await chown(passwordFile(place), place.user.uid, place.user.gid)
    options.push('--auth=scram-sha-256', `--pwfile=${passwordFile(place)}`)
  } else {
    options.push('--auth=trust')
  }
  try {
    await run(binaries.initdb, [`--pgdata=${unfinished}`, ...options], place)
    // One command per line is the language of single-user mode.
    await run(
      binaries.postgres,
      ['--single', '-D', unfinished, 'postgres'],
      place,
      `create database ${DATABASE_NAME};\n`
    )
    await rename(unfinished, place.cluster)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    // Another Herald that started at the same moment may have finished first.
    if (!(await stat(place.cluster).catch(() => undefined))) throw error
  }
  return true
}

/** PostgreSQL's own environment: nothing of ours, least of all PG* variables and secrets. */
export const environment = () => (process.platform === 'win32' ? undefined : { LC_ALL: 'C', TZ: 'UTC' })

/** Options of a child process that runs as the user who owns the database. */
export const runAs = (user: SystemUser | undefined) => (user ? { uid: user.uid, gid: user.gid } : {})

function run(program: string, args: string[], place: Place, input = '') {
  return new Promise<void>((resolve, reject) => {
    const child = spawn(program, args, { cwd: place.home, env: environment(), ...runAs(place.user) })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    child.on('error', (error) => reject(cannotRun(program, error)))
    child.on('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`${path.basename(program)} failed (${signal ?? code}): ${output.trim().slice(-2_000)}`))
    })
  })
}

export function cannotRun(program: string, error: Error) {
  return new Error(
    `The built-in PostgreSQL does not run on this machine (${program}: ${error.message}). ` +
      'Set DATABASE_URL to a PostgreSQL 15 or newer.',
    { cause: error }
  )
}
