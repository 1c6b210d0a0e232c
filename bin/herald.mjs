#!/usr/bin/env node
// Starts the CLI on the Node that the project pins, whatever Node found this file first.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
if (!existsSync(at('../node_modules/.bin/node')))
  spawnSync(process.execPath, [at('../scripts/setup.mjs')], { stdio: 'inherit' })
const { status, signal } = spawnSync(at('../node_modules/.bin/node'), [at('../src/cli.ts'), ...process.argv.slice(2)], {
  stdio: 'inherit',
  // Compiled once, kept with the installed packages.
  env: { NODE_COMPILE_CACHE: at('../node_modules/.cache/herald'), ...process.env }
})
process.exit(signal ? 1 : (status ?? 1))
