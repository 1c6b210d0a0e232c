/** `npx herald …`: each command calls a domain function. Output for people by default, `--json` for programs. */
import { parseArgs } from 'node:util'
import { COMMANDS, type Command } from './cli/commands.ts'
import { ConfigError } from './config.ts'
import { ApiError } from './errors.ts'

const usage = () => `herald: a self-hosted platform server for real-time events and advertising

Usage: npx herald <command> [options]

${COMMANDS.map(({ name, args = '', about }) => `  ${`${name} ${args}`.padEnd(44)} ${about}`).join('\n')}

Options
  --json        print JSON instead of text
  -h, --help    help; after a command: help for that command

Settings are environment variables: npx herald config. The database is the one that npm start uses.`

const help = (command: Command) => `Usage: npx herald ${command.name} ${command.args ?? ''}

${command.about}
${Object.entries(command.options ?? {})
  .map(([name, { about }]) => `  --${name.padEnd(16)} ${about}`)
  .join('\n')}
${command.example ? `\nExample\n  npx herald ${command.example}\n` : ''}`

async function main(argv: string[]): Promise<number> {
  const command = COMMANDS.toSorted((a, b) => b.name.length - a.name.length).find(
    ({ name }) => name === argv.slice(0, name.split(' ').length).join(' ')
  )
  if (!command) {
    const asked = argv.length === 0 || ['-h', '--help', 'help'].includes(argv[0]!)
    console[asked ? 'log' : 'error'](
      asked ? usage() : `herald: there is no command "${argv.slice(0, 2).join(' ')}"; npx herald --help lists them`
    )
    return asked ? 0 : 2
  }
  const { values, positionals } = parseArgs({
    args: argv.slice(command.name.split(' ').length),
    options: {
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      ...Object.fromEntries(Object.entries(command.options ?? {}).map(([name, { type }]) => [name, { type }]))
    },
    allowPositionals: true
  })
  if (values.help) {
    console.log(help(command))
    return 0
  }
  const result = await command.run({
    values: values as Record<string, string | boolean | undefined>,
    positionals,
    env: process.env
  })
  if (result !== undefined)
    console.log(
      values.json ? JSON.stringify(result, null, 2) : typeof result === 'string' ? result.trimEnd() : table(result)
    )
  return 0
}

/** Rows as columns, one object as name and value. */
function table(result: unknown): string {
  if (!Array.isArray(result))
    return Object.entries(result as object)
      .map(([name, value]) => `${name.padEnd(24)} ${cell(value)}`)
      .join('\n')
  if (result.length === 0) return 'Nothing there yet.'
  const rows = result as Record<string, unknown>[]
  const names = Object.keys(rows[0]!)
  const widths = names.map((name) => Math.min(40, Math.max(name.length, ...rows.map((row) => cell(row[name]).length))))
  const line = (cells: string[]) =>
    cells
      .map((text, i) => text.padEnd(widths[i]!))
      .join('  ')
      .trimEnd()
  return [line(names), ...rows.map((row) => line(names.map((name) => cell(row[name]))))].join('\n')
}

const cell = (value: unknown) =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const known =
    error instanceof ApiError ||
    error instanceof ConfigError ||
    (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
  console.error(`herald: ${known || error instanceof Error ? (error as Error).message : String(error)}`)
  if (!known && process.env.HERALD_LOG_LEVEL === 'debug') console.error(error)
  process.exitCode = 1
}
