/** Which way things depend: main, cli → herald, app → domains → http, storage → errors, config. Prints the arrows that point the wrong way. */
import { glob, readFile } from 'node:fs/promises'
import path from 'node:path'

/** A folder may import these folders; '' is the files directly in src/ that everyone may use (errors, config, clock, deps, domain). */
const MAY_IMPORT: Record<string, readonly string[]> = {
  storage: [''],
  egress: [''],
  tools: ['', 'egress'],
  // Who is asking is identity's business; http formats the answer.
  http: ['', 'storage', 'identity'],
  identity: ['', 'http', 'storage'],
  webhooks: ['', 'http', 'storage', 'identity', 'egress', 'tools'],
  activity: ['', 'http', 'storage', 'identity', 'webhooks'],
  catalog: ['', 'http', 'storage', 'identity', 'egress'],
  campaigns: ['', 'http', 'storage', 'identity'],
  console: ['', 'http', 'storage', 'identity', 'tools'],
  operator: ['', 'http', 'storage', 'identity'],
  // Commands borrow the parts of the whole program.
  cli: ['', 'identity', 'storage', 'webhooks', 'tools', 'campaigns', 'egress']
}

/** Files directly in src/ that put the program together; only each other may import them. */
const COMPOSITION = new Set(['main.ts', 'cli.ts', 'serve.ts', 'herald.ts', 'app.ts', 'domains.ts', 'demo.ts'])
/** Types only: what is passed to everybody names everything. */
const TYPES_OF_EVERYTHING = new Set(['deps.ts', 'domain.ts'])
/** Another domain is used only through its index. These two are identity's vocabulary, not its behaviour. */
const ALSO_PUBLIC = new Set(['identity/principal.ts', 'identity/access.ts', 'identity/secrets.ts'])

export async function wrongArrows(src: string): Promise<string[]> {
  const wrong: string[] = []
  for await (const file of glob('**/*.ts', { cwd: src })) {
    if (file.endsWith('.test.ts')) continue
    const [from = ''] = file.includes(path.sep) ? file.split(path.sep) : ['']
    const text = await readFile(path.join(src, file), 'utf8')
    for (const [, typeOnly, target] of text.matchAll(/^\s*(?:import|export)\s+(type\s)?[^'"]*?from\s+'(\.[^']+)'/gm)) {
      const to = path.relative(src, path.resolve(src, path.dirname(file), target!))
      const [folder = ''] = to.includes(path.sep) ? to.split(path.sep) : ['']
      if (folder === from) continue
      const arrow = `${file} → ${to}`
      if (from === '') {
        if (!COMPOSITION.has(file) && !(TYPES_OF_EVERYTHING.has(file) && typeOnly))
          wrong.push(`${arrow}: a file every folder uses may not use a folder`)
      } else if (folder === '') {
        if (COMPOSITION.has(to) && from !== 'cli')
          wrong.push(`${arrow}: only main and cli may import what puts the program together`)
      } else if (!MAY_IMPORT[from]?.includes(folder)) wrong.push(`${arrow}: ${from} may not know ${folder}`)
      else if (isDomain(folder) && path.basename(to) !== 'index.ts' && !ALSO_PUBLIC.has(to))
        wrong.push(`${arrow}: use ${folder}/index.ts`)
    }
  }
  return wrong
}

const isDomain = (folder: string) => !['http', 'storage', 'egress', 'tools'].includes(folder)
