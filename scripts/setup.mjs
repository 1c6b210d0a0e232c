// Installs what the lock file names when it is not installed yet. Plain JavaScript without dependencies, because it
// runs first, on whatever Node (20 or newer) the machine has.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const stamp = join(root, 'node_modules', '.herald-lock')
const lock = join(root, '.setup.lock')
// Packages for another system are of no use here, even if the lock file is the same.
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(`${process.platform}-${process.arch}`)
  .digest('hex')

const installed = () => {
  if (!existsSync(join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node'))) return false
  try {
    if (readFileSync(stamp, 'utf8') === wanted) return true
  } catch {
    // Never installed by us; perhaps by hand.
  }
  return treeMatches() && leaveStamp()
}

/** Whether npm's own record of the tree is what the lock file asks for: then somebody ran `npm install`, and all is well. */
const treeMatches = () => {
  try {
    const packages = (file) => JSON.parse(readFileSync(join(root, file), 'utf8')).packages
    const tree = packages('node_modules/.package-lock.json')
    return Object.entries(packages('package-lock.json')).every(([name, { version, integrity, optional }]) => {
      if (!name.startsWith('node_modules/')) return true
      const found = tree[name]
      return found ? found.version === version && found.integrity === integrity : optional === true
    })
  } catch {
    return false
  }
}

/** Written last and in one step: a stamp means a complete tree. */
const leaveStamp = () => {
  writeFileSync(`${stamp}.${process.pid}`, wanted)
  renameSync(`${stamp}.${process.pid}`, stamp)
  return true
}

const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

/** Whether the process that took the lock still runs; one that was killed must not block the next. */
const holderLives = (file) => {
  try {
    const pid = Number(readFileSync(file, 'utf8'))
    // Between creating the file and writing into it, a holder has no number yet.
    if (!pid) return Date.now() - statSync(file).mtimeMs < 5_000
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Moved aside before it is deleted: if a live process has taken the lock in between, it gets it back. */
const removeDeadLock = () => {
  const aside = `${lock}.${process.pid}`
  try {
    renameSync(lock, aside)
    if (holderLives(aside)) renameSync(aside, lock)
    else rmSync(aside, { force: true })
  } catch {
    // Somebody else was faster.
  }
}

const takeLock = () => {
  for (let told = false; ; ) {
    try {
      const file = openSync(lock, 'wx')
      writeFileSync(file, String(process.pid))
      closeSync(file)
      return
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      if (!holderLives(lock)) {
        removeDeadLock()
        continue
      }
      if (!told) console.log('herald: waiting for another process that installs the dependencies …')
      told = true
      pause(200)
    }
  }
}

const install = () => {
  console.log('herald: installing dependencies (npm ci), once …')
  const options = ['ci', '--no-audit', '--no-fund', '--loglevel=error']
  // npm names its own program file; without npm around us, the one in the PATH has to do.
  const npm = process.env.npm_execpath
  const run = (program, args, more) => spawnSync(program, args, { cwd: root, stdio: 'inherit', ...more })
  const { status, error } = npm?.endsWith('.js')
    ? run(process.execPath, [npm, ...options])
    : run('npm', options, { shell: process.platform === 'win32' })
  if (error || status !== 0) {
    console.error(`herald: npm ci failed${error ? ` (${error.message})` : ''}; nothing can run without it`)
    process.exitCode = status || 1
    return
  }
  leaveStamp()
}

if (!installed()) {
  takeLock()
  try {
    if (!installed()) install()
  } finally {
    rmSync(lock, { force: true })
  }
}
