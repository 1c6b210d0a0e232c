/** Consumer secrets by app, kept for a moment: thousands of deliveries a second must not ask for them one by one. */

export type SecretsOf = (appId: string) => Promise<readonly string[]>

export interface SecretCache {
  /** At once when they are known; undefined means that `load` must be awaited. */
  get(appId: string): readonly string[] | undefined
  load(appId: string): Promise<readonly string[]>
  /** After a rotation somewhere; all apps when none is named. */
  forget(appId?: string): void
}

const KEPT_MS = 5_000
const APPS_MAX = 10_000

export function createSecretCache(secretsOf: SecretsOf, monotonicNow = () => performance.now()): SecretCache {
  const kept = new Map<string, { secrets: readonly string[]; until: number }>()
  const loading = new Map<string, Promise<readonly string[]>>()

  async function fetch(appId: string) {
    try {
      const secrets = await secretsOf(appId)
      if (kept.size >= APPS_MAX) kept.clear()
      kept.set(appId, { secrets, until: monotonicNow() + KEPT_MS })
      return secrets
    } finally {
      loading.delete(appId)
    }
  }

  return {
    get(appId) {
      const entry = kept.get(appId)
      return entry && entry.until > monotonicNow() ? entry.secrets : undefined
    },
    load(appId) {
      let promise = loading.get(appId)
      if (!promise) {
        promise = fetch(appId)
        loading.set(appId, promise)
      }
      return promise
    },
    forget(appId) {
      if (appId === undefined) kept.clear()
      else kept.delete(appId)
    }
  }
}
