/** What a running PostgreSQL says about itself in postmaster.pid, and whether that is still true. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

export interface Postmaster {
  pid: number
  port: number
  ready: boolean
}

export async function readPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const text = await readFile(path.join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!(pid > 0)) return undefined
  return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' }
}

export function isAlive(pid: number) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** After a reboot or in a restarted container the number in the file may belong to some other program. */
export async function isPostmasterOf(pid: number, cluster: string) {
  if (!isAlive(pid)) return false
  const command = await commandLine(pid)
  return command === undefined || (command.includes('postgres') && command.includes(cluster))
}

async function commandLine(pid: number): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  const { stdout } = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({
    stdout: ''
  }))
  return stdout
}
