/** scripts/setup.mjs in a small project whose only dependency is a directory, so that no registry is asked. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'

const root = path.resolve(import.meta.dirname, '..')

async function project(t: TestContext) {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'herald-setup-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  const write = (file: string, content: object | string) =>
    writeFile(path.join(directory, file), typeof content === 'string' ? content : JSON.stringify(content))
  await mkdir(path.join(directory, 'scripts'))
  await mkdir(path.join(directory, 'runtime'))
  await cp(path.join(root, 'scripts/setup.mjs'), path.join(directory, 'scripts/setup.mjs'))
  await write('runtime/package.json', { name: 'node', version: '1.0.0', bin: 'node.js' })
  await write('runtime/node.js', '#!/usr/bin/env node\n')
  const dependencies = { node: 'file:runtime' }
  await write('package.json', { name: 'fixture', version: '1.0.0', dependencies })
  await write('package-lock.json', {
    name: 'fixture',
    version: '1.0.0',
    lockfileVersion: 3,
    packages: {
      '': { name: 'fixture', version: '1.0.0', dependencies },
      'node_modules/node': { resolved: 'runtime', link: true },
      runtime: { name: 'node', version: '1.0.0', bin: { node: 'node.js' } }
    }
  })
  const setup = async () =>
    (await promisify(execFile)(process.execPath, ['scripts/setup.mjs'], { cwd: directory })).stdout
  return { directory, setup }
}

const installs = (output: string) => output.split('installing dependencies').length - 1

test('installs what is missing once, and again when the lock file has changed', async (t) => {
  const { directory, setup } = await project(t)

  assert.equal(installs(await setup()), 1)
  assert.equal(await setup(), '')
  await rm(path.join(directory, 'node_modules/.bin/node'))
  assert.equal(installs(await setup()), 1)
  const lock = path.join(directory, 'package-lock.json')
  const text = await readFile(lock, 'utf8')
  await writeFile(lock, text.replace('"link":true', '"link":true,"version":"1.0.0"'))
  assert.equal(installs(await setup()), 1)
})

test('is content with a tree that was installed by hand and is what the lock file asks for', async (t) => {
  const { directory, setup } = await project(t)
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund'], { cwd: directory })

  assert.equal(await setup(), '')
  await readFile(path.join(directory, 'node_modules/.herald-lock'))
})

test('of two that start at once, one installs and the other waits for it', async (t) => {
  const { directory, setup } = await project(t)

  const outputs = await Promise.all([setup(), setup()])

  assert.equal(
    outputs.map(installs).reduce((a, b) => a + b),
    1
  )
  await readFile(path.join(directory, 'node_modules/.herald-lock'))
})

test('a setup that was killed does not block the next', async (t) => {
  const { directory, setup } = await project(t)
  const dead = spawn(process.execPath, ['-e', ''])
  await new Promise((resolve) => dead.on('exit', resolve))
  await writeFile(path.join(directory, '.setup.lock'), String(dead.pid))

  assert.equal(installs(await setup()), 1)
})

test('says so when npm fails, and does not take a broken tree for a whole one', async (t) => {
  const { directory, setup } = await project(t)
  await writeFile(path.join(directory, 'package-lock.json'), '{}')

  await assert.rejects(setup(), (error: { code: number; stderr: string }) => {
    assert.notEqual(error.code, 0)
    assert.match(error.stderr, /npm ci failed/)
    return true
  })
  await assert.rejects(readFile(path.join(directory, 'node_modules/.herald-lock')))
})
