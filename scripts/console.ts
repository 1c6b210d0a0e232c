/** `npm run console`: builds the console into console/dist/<hash of its sources>, compressed. The server runs this when it must. */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build } from 'vite'
import { type BuiltFile, DIST, MANIFEST_FILE, readBuild, sourcesHash } from '../src/console/build.ts'
import { SUFFIX } from '../src/console/pages.ts'

const root = path.resolve(import.meta.dirname, '../console')
/** Builds of earlier sources, kept for pages that are still open somewhere. */
const KEPT = 2

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2'
}

async function compress(directory: string) {
  const manifest: Record<string, BuiltFile> = {}
  const names = await readdir(directory, { recursive: true })
  await Promise.all(
    names.map(async (name) => {
      const file = path.join(directory, name)
      if (!(await stat(file)).isFile()) return
      const type = TYPES[path.extname(name)] ?? 'application/octet-stream'
      const encodings: BuiltFile['encodings'] = []
      if (type !== 'font/woff2') {
        const bytes = await readFile(file)
        const params = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
        await writeFile(file + SUFFIX.br, await promisify(brotliCompress)(bytes, { params }))
        await writeFile(file + SUFFIX.gzip, await promisify(gzip)(bytes, { level: 9 }))
        encodings.push('br', 'gzip')
      }
      manifest[`/${name.split(path.sep).join('/')}`] = { type, encodings }
    })
  )
  await writeFile(path.join(directory, MANIFEST_FILE), JSON.stringify(manifest))
}

async function removeOld(current: string) {
  const names = (await readdir(DIST)).filter((name) => name !== current)
  const aged = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(path.join(DIST, name)).catch(() => undefined))?.mtimeMs ?? 0 }))
  )
  for (const { name } of aged.sort((a, b) => b.at - a.at).slice(KEPT))
    await rm(path.join(DIST, name), { recursive: true, force: true })
}

const hash = await sourcesHash()
if (await readBuild(hash)) console.log(`console/dist/${hash} is up to date`)
else {
  const unfinished = path.join(DIST, `unfinished-${process.pid}`)
  await mkdir(DIST, { recursive: true })
  await build({ root, logLevel: 'warn', build: { outDir: unfinished, emptyOutDir: true } })
  await compress(unfinished)
  // Another process may have built the same meanwhile.
  await rename(unfinished, path.join(DIST, hash)).catch(() => rm(unfinished, { recursive: true, force: true }))
  await removeOld(hash)
  console.log(`built console/dist/${hash}`)
}
