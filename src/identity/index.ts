/** What other parts may use of identity. */
export * from './access.ts'
export * from './admin-tokens.ts'
export * from './allow-lists.ts'
export { appBearerToken, invalidateAppToken } from './app-tokens.ts'
export * from './apps.ts'
export {
  type Authenticator,
  type AuthenticatorOptions,
  type Credentials,
  createAuthenticator
} from './authenticate.ts'
export { IDENTITY_CHANNEL } from './changes.ts'
export {
  CONSOLE_APP,
  type ConsolePerson,
  createOperatorSession,
  endConsoleSessions,
  type SessionCredentials
} from './console-sessions.ts'
export { createIdentity } from './domain.ts'
export * from './failures.ts'
export { type SignableRequest, type SigningKeys, type SigningOptions, signRequest } from './oauth1.ts'
export { createOAuth1AccessToken, revokeOAuth1Token } from './oauth1-tokens.ts'
export { createOAuth2UserToken, revokeOAuth2Token } from './oauth2-tokens.ts'
export * from './principal.ts'
export { pruneIdentity, pruneIdentityJob } from './prune.ts'
export * from './revocations.ts'
export * from './scopes.ts'
export { createVault, hashToken, parseSecretKey, randomText, secretKeyFromFile, type Vault } from './secrets.ts'
export {
  ATTEMPT_WINDOW_SECONDS,
  admitAdminAttempt,
  createSession,
  endSession,
  findSessionUser,
  SESSION_SECONDS,
  type SignIn,
  verifyPassword
} from './sign-in.ts'
export * from './tokens.ts'
export * from './users.ts'
export { checkSecretKey } from './vault-check.ts'
