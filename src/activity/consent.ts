/** What a user must have allowed an app, for which events. Asked when something is to be sent, not only when it is asked for. */
import { type Held, includesLevel, type PermissionLevel, type Requirement, type Scope } from '../identity/index.ts'
import type { EventType } from './event-types.ts'

/** OAuth 1.0a knows three levels; only direct messages need the highest. */
export const levelFor = (scope: Scope | undefined): PermissionLevel =>
  scope === 'dm.read' ? 'read-write-directmessages' : 'read'

/** Whether a private subscription still has what it stands on; either protocol will do. */
export const consents = ({ scope }: EventType, { oauth1, scopes }: Held) =>
  (oauth1 !== null && includesLevel(oauth1, levelFor(scope))) || (scope !== undefined && scopes.includes(scope))

/** Who may subscribe to account activity: a user whose permissions reach direct messages, or with all these scopes. */
export const ACCOUNT_ACTIVITY = {
  accepts: ['oauth1', 'oauth2'],
  scopes: ['dm.read', 'dm.write', 'tweet.read', 'users.read'],
  oauth1Level: 'read-write-directmessages',
  oauth1Overrides: true
} as const satisfies Requirement

/** "When OAuth 1.0a permissions are present they fully override OAuth 2.0 scopes" (document 1). */
export const sustainsAccountActivity = ({ oauth1, scopes }: Held) =>
  oauth1 === null
    ? ACCOUNT_ACTIVITY.scopes.every((scope) => scopes.includes(scope))
    : includesLevel(oauth1, ACCOUNT_ACTIVITY.oauth1Level)

/** Which groups of account activity a user lets an app see; see docs/decisions/0066. */
export const mayReceive = (scope: Scope, held: Held) =>
  sustainsAccountActivity(held) && (held.oauth1 !== null || held.scopes.includes(scope))
