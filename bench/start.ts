/** Warm start to ready, and idle memory of the server process (without PostgreSQL's own). */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const READY_SECONDS_BAR = 2
const IDLE_MEGABYTES_BAR = 150
const root = path.resolve(import.meta.dirname, '..')

async function startHerald(dataDir: string, port: number) {
  const began = performance.now()
  const child = spawn(path.join(root, 'node_modules/.bin/node'), ['src/main.ts'], {
    cwd: root,
    stdio: 'ignore',
    env: {
      ...process.env,
      HERALD_DATA_DIR: dataDir,
      HERALD_PORT: String(port),
      HERALD_SANDBOX_PORT: String(port + 1),
      DATABASE_URL: ''
    }
  })
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      (response) => response.ok,
      () => false
    )
    if (ready) return { child, seconds: (performance.now() - began) / 1000 }
    if (child.exitCode !== null) throw new Error(`Herald ended with ${child.exitCode}`)
    await sleep(10)
  }
}

async function stop(child: ChildProcess) {
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('exit', resolve))
}

const residentMegabytes = async (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

export default async function start() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'herald-bench-'))
  const port = 20_000 + Math.floor(Math.random() * 20_000)
  const first = await startHerald(dataDir, port)
  await stop(first.child)
  const warm: number[] = []
  let idle = 0
  for (let i = 0; i < 3; i++) {
    const { child, seconds } = await startHerald(dataDir, port)
    warm.push(seconds)
    if (i === 2) {
      await sleep(5_000)
      idle = await residentMegabytes(child.pid!)
    }
    await stop(child)
  }
  await rm(dataDir, { recursive: true, force: true })
  const ready = warm.toSorted((a, b) => a - b)[1]!
  console.log(
    JSON.stringify({
      bench: 'start',
      first_start_seconds: round(first.seconds),
      warm_start_seconds: round(ready),
      idle_megabytes: Math.round(idle),
      bars: { warm_start_seconds: READY_SECONDS_BAR, idle_megabytes: IDLE_MEGABYTES_BAR },
      pass: ready <= READY_SECONDS_BAR && idle <= IDLE_MEGABYTES_BAR
    })
  )
}

const round = (seconds: number) => Math.round(seconds * 100) / 100

if (import.meta.main) await start()
