/** Decides where the built-in database lives and who runs it. */
import { createHash } from 'node:crypto'
import { chmod, chown, lstat, mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { sharedDirectory } from './binaries.ts'
import { canReach, isRoot, type SystemUser, unprivilegedUser } from './system-user.ts'

export interface Place {
  /** Belongs to the user who runs PostgreSQL; everything below belongs to the database. */
  home: string
  cluster: string
  socketDirectory: string
  /** Somebody else than ourselves, when we are root. */
  user: SystemUser | undefined
  /** These two stay ours, in the data directory: root must not write where another user could put a symlink. */
  logFile: string
  ownerFile: string
}

/** sun_path holds 108 bytes with the final zero on Linux and 104 on macOS. */
const SOCKET_PATH_BYTES_MAX = 103
const SOCKET_NAME = '.s.PGSQL.5432'

/** Written when the cluster cannot be inside the data directory. */
const pointerFile = (dataDir: string) => path.join(dataDir, 'postgres-location')

export async function findPlace(dataDir: string, sharedDirectories?: string[]): Promise<Place> {
  await mkdir(dataDir, { recursive: true })
  const root = await realpath(dataDir)
  const { logFile, ownerFile } = await existingFiles(root)
  const { home, user } = isRoot() ? await homeForRoot(root, sharedDirectories) : await homeForMe(root)
  return {
    home,
    user,
    cluster: path.join(home, 'cluster'),
    socketDirectory: await socketDirectory(home, user),
    logFile,
    ownerFile
  }
}

/** Where everything of a data directory's database is, if it is there at all. */
export async function existingFiles(dataDir: string) {
  const home = (await readFile(pointerFile(dataDir), 'utf8').catch(() => '')).trim() || path.join(dataDir, 'postgres')
  return {
    home,
    cluster: path.join(home, 'cluster'),
    socketDirectory: socketPath(home),
    logFile: path.join(dataDir, 'postgres.log'),
    ownerFile: path.join(dataDir, 'postgres.owner'),
    pointerFile: pointerFile(dataDir)
  }
}

async function homeForMe(dataDir: string) {
  const home = path.join(dataDir, 'postgres')
  const pointer = await readFile(pointerFile(dataDir), 'utf8').catch(() => undefined)
  const owner = (await stat(home).catch(() => undefined))?.uid
  if (pointer || (owner !== undefined && owner !== (process.getuid?.() ?? owner))) {
    throw new Error(
      `The database in ${dataDir} was made by another user. Start Herald as that user, ` +
        'point HERALD_DATA_DIR to another directory, or delete this one.'
    )
  }
  await mkdir(home, { recursive: true, mode: 0o700 })
  return { home, user: undefined }
}

async function homeForRoot(dataDir: string, sharedDirectories?: string[]) {
  const pointer = (await readFile(pointerFile(dataDir), 'utf8').catch(() => '')).trim()
  if (pointer) return existingHome(pointer)
  const inside = path.join(dataDir, 'postgres')
  if (await stat(inside).catch(() => undefined)) return existingHome(inside)

  const user = await unprivilegedUser()
  if (await canReach(user, dataDir)) return { home: await makeHome(inside, user), user }
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 12)
  const clusters = path.join(await sharedDirectory(user, sharedDirectories), 'clusters')
  await mkdir(clusters, { recursive: true, mode: 0o755 })
  const home = await makeHome(path.join(clusters, hash), user)
  await writeFile(pointerFile(dataDir), `${home}\n`)
  return { home, user }
}

/** A cluster runs as whoever owns it, so that one made by an ordinary user also starts under root. */
async function existingHome(home: string) {
  const owner = await stat(home).catch(() => undefined)
  if (!owner) throw new Error(`The database has disappeared from ${home}. Restore it, or run "npm run reset".`)
  const user =
    owner.uid === 0 ? await unprivilegedUser() : { name: `number ${owner.uid}`, uid: owner.uid, gid: owner.gid }
  await makeHome(home, user)
  if (!(await canReach(user, home))) {
    throw new Error(
      `PostgreSQL runs as user ${user.name}, who cannot enter ${home}. Open the directories above it (chmod o+x).`
    )
  }
  return { home, user }
}

async function makeHome(home: string, user: SystemUser) {
  await mkdir(home, { mode: 0o700 }).catch(ignoreExisting)
  await mkdir(path.join(home, 'run'), { mode: 0o700 }).catch(ignoreExisting)
  if ((await stat(home)).uid === 0) {
    await chown(path.join(home, 'run'), user.uid, user.gid)
    await chown(home, user.uid, user.gid)
  }
  return home
}

/** Inside the home if that is short enough for a socket, else in the directory for temporary files. */
function socketPath(home: string) {
  const name = `herald-${createHash('sha256').update(home).digest('hex').slice(0, 12)}`
  return [path.join(home, 'run'), path.join(os.tmpdir(), name)].find(fits) ?? path.join('/tmp', name)
}

/** Only the user who runs PostgreSQL (and root) may enter it, which is why connections need no password. */
async function socketDirectory(home: string, user: SystemUser | undefined) {
  const directory = socketPath(home)
  try {
    await mkdir(directory, { mode: 0o700 })
    if (user) await chown(directory, user.uid, user.gid)
  } catch (error) {
    ignoreExisting(error as NodeJS.ErrnoException)
  }
  const found = await lstat(directory)
  if (!found.isDirectory() || found.uid !== (user?.uid ?? process.getuid?.() ?? found.uid)) {
    throw new Error(`${directory} belongs to somebody else; remove it, or set HERALD_DATA_DIR to another directory`)
  }
  await chmod(directory, 0o700)
  return directory
}

const fits = (directory: string) => Buffer.byteLength(path.join(directory, SOCKET_NAME)) <= SOCKET_PATH_BYTES_MAX

function ignoreExisting(error: NodeJS.ErrnoException) {
  if (error.code !== 'EEXIST') throw error
}
