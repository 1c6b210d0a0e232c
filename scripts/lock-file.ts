/**
 * The lock file installs anywhere: it names no host, and knows the packages of every platform. npm leaves out a platform's
 * package when the registry at hand does not carry it, and then `npm ci` refuses the whole file.
 */
import { readFile, writeFile } from 'node:fs/promises'

interface Entry {
  version?: string
  resolved?: string
  license?: string
  dev?: boolean
  engines?: object
  optionalDependencies?: Record<string, string>
  [more: string]: unknown
}
interface Lock {
  packages: Record<string, Entry>
}

export async function lockFileProblems(file: string, fix: boolean): Promise<string[]> {
  const lock = JSON.parse(await readFile(file, 'utf8')) as Lock
  const problems = Object.entries(lock.packages)
    .filter(([, entry]) => /^https?:/.test(entry.resolved ?? ''))
    .map(([name]) => `package-lock.json names a host for ${name}; install with the project's .npmrc`)
  const missing = missingPlatforms(lock)
  if (missing.length === 0) return problems
  if (!fix)
    return [
      ...problems,
      `package-lock.json lacks ${missing.map(([name]) => name).join(', ')}; npm run check -- --fix adds them`
    ]
  const packages = {
    ...lock.packages,
    ...Object.fromEntries(missing.map(([name, entry]) => [`node_modules/${name}`, entry]))
  }
  const { '': root, ...others } = packages
  const sorted = Object.fromEntries(Object.entries(others).sort(([a], [b]) => (a < b ? -1 : 1)))
  await writeFile(file, `${JSON.stringify({ ...lock, packages: { '': root, ...sorted } }, null, 2)}\n`)
  return problems
}

const PLATFORM =
  /(?:(android|darwin|freebsd|linux|openharmony|win32)-(arm64|x64|arm|ia32|ppc64|s390x)(?:-(musl|gnu|musleabihf|gnueabihf|eabi|msvc))?|(wasm32)-wasi)$/

/** Names such as `@scope/cli-linux-x64-musl` say for which platform a package is; others are not made up. */
function missingPlatforms({ packages }: Lock): [string, Entry][] {
  return Object.values(packages).flatMap((parent) =>
    Object.entries(parent.optionalDependencies ?? {}).flatMap(([name, version]): [string, Entry][] => {
      const platform = PLATFORM.exec(name)
      if (packages[`node_modules/${name}`] || !platform || !/^\d/.test(version)) return []
      const [, os, cpu, abi, wasm] = platform
      const libc = os === 'linux' && abi && (abi.startsWith('musl') ? 'musl' : 'glibc')
      return [
        [
          name,
          {
            version,
            cpu: [cpu ?? wasm],
            ...(parent.dev ? { dev: true } : {}),
            ...(libc ? { libc: [libc] } : {}),
            license: parent.license,
            optional: true,
            ...(os ? { os: [os] } : {}),
            engines: parent.engines
          }
        ]
      ]
    })
  )
}
