/** Who is asking, and whether a route accepts them. */
import { includesLevel, type PermissionLevel, type Scope } from './scopes.ts'

export interface PrincipalApp {
  id: string
  name: string
  owner_user_id: string | null
  project_id: string | null
  client_id: string
  permissions: PermissionLevel
  products: string[]
  ads_access: 'none' | 'read' | 'read-write'
  quotas: Record<string, number>
  /** Names of the allow-lists that hold this app. */
  allow_lists: string[]
}

export interface PrincipalUser {
  id: string
  username: string
  name: string
  protected: boolean
  /** Names of the allow-lists that hold this user. */
  allow_lists: string[]
}

export interface AppPrincipal {
  kind: 'app'
  app: PrincipalApp
}

export interface OAuth2Principal {
  kind: 'user'
  via: 'oauth2'
  app: PrincipalApp
  user: PrincipalUser
  scopes: ReadonlySet<string>
  /** The most that this user has granted this app through OAuth 1.0a, if anything. */
  oauth1_permissions: PermissionLevel | null
}

export interface OAuth1Principal {
  kind: 'user'
  via: 'oauth1'
  app: PrincipalApp
  user: PrincipalUser
  permissions: PermissionLevel
}

export type UserPrincipal = OAuth2Principal | OAuth1Principal
export interface AdminPrincipal {
  kind: 'admin'
}
export type Principal = AppPrincipal | UserPrincipal | AdminPrincipal

export const AuthenticationKinds = {
  app: 'OAuth 2.0 Application-Only',
  oauth2: 'OAuth 2.0 User Context',
  oauth1: 'OAuth 1.0a User Context'
} as const
export type AuthenticationKind = keyof typeof AuthenticationKinds

/** Which of the three kinds a principal used; the administrator uses none of them. */
export const kindOf = (principal: Principal): AuthenticationKind | undefined =>
  principal.kind === 'app' ? 'app' : principal.kind === 'user' ? principal.via : undefined

/** What a route declares about its callers. */
export interface Requirement {
  accepts: readonly AuthenticationKind[]
  /** All of them, for a user through OAuth 2.0. */
  scopes?: readonly Scope[]
  /** The least permission level for a user through OAuth 1.0a; `read` unless said otherwise. */
  oauth1Level?: PermissionLevel
  /** Document 1, account activity: OAuth 1.0a permissions, where the user has granted any, replace the OAuth 2.0 scopes. */
  oauth1Overrides?: boolean
}

export type Permission =
  | { permitted: true }
  | { permitted: false; reason: 'unsupported-authentication'; used: string; accepted: string[] }
  | { permitted: false; reason: 'missing-scopes'; missing: Scope[] }
  | { permitted: false; reason: 'insufficient-permissions'; held: PermissionLevel; needed: PermissionLevel }

const PERMITTED: Permission = { permitted: true }

export function permits(principal: Principal, requirement: Requirement): Permission {
  const kind = kindOf(principal)
  if (kind === undefined || !requirement.accepts.includes(kind)) {
    return {
      permitted: false,
      reason: 'unsupported-authentication',
      used: kind ? AuthenticationKinds[kind] : 'an administrator token',
      accepted: requirement.accepts.map((each) => AuthenticationKinds[each])
    }
  }
  if (principal.kind !== 'user') return PERMITTED
  const level = oauth1LevelOf(principal, requirement)
  if (level !== undefined) {
    const needed = requirement.oauth1Level ?? 'read'
    return includesLevel(level, needed)
      ? PERMITTED
      : { permitted: false, reason: 'insufficient-permissions', held: level, needed }
  }
  const { scopes } = principal as OAuth2Principal
  const missing = (requirement.scopes ?? []).filter((scope) => !scopes.has(scope))
  return missing.length === 0 ? PERMITTED : { permitted: false, reason: 'missing-scopes', missing }
}

function oauth1LevelOf(principal: UserPrincipal, { oauth1Overrides }: Requirement): PermissionLevel | undefined {
  if (principal.via === 'oauth1') return principal.permissions
  return (oauth1Overrides && principal.oauth1_permissions) || undefined
}
