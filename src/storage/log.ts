import type { BaseLogger } from 'pino'

/** What storage asks of a logger; any pino logger is one. */
export type Log = Pick<BaseLogger, 'debug' | 'info' | 'warn' | 'error'>

const nothing = () => {}
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing }
