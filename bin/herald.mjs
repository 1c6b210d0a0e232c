#!/usr/bin/env node
// Starts the CLI on the Node that the project pins, whatever Node found this file first.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
if (!existsSync(at('../node_modules/.bin/node')))
  spawnSync(process.execPath, [at('../scripts/setup.mjs')], { stdio: 'inherit' })
const child = spawn(at('../node_modules/.bin/node'), [at('../src/cli.ts'), ...process.argv.slice(2)], {
  stdio: 'inherit'
})
// A terminal interrupts both of us; what is sent to this process alone is passed on. Either way the command ends first.
process.on('SIGINT', () => {})
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('close', (status, signal) => process.exit(signal ? 1 : (status ?? 1)))
