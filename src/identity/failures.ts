/** Why a caller could not be authenticated. Scopes decide how much of it shows; logs get the reason. */
export const AUTHENTICATION_FAILURES = {
  'no-credentials': { code: 215, message: 'Bad Authentication data' },
  malformed: { code: 215, message: 'Bad Authentication data' },
  'unknown-consumer': { code: 32, message: 'Could not authenticate you' },
  'unknown-token': { code: 89, message: 'Invalid or expired token' },
  expired: { code: 89, message: 'Invalid or expired token' },
  revoked: { code: 89, message: 'Invalid or expired token' },
  suspended: { code: 89, message: 'Invalid or expired token' },
  'bad-signature': { code: 32, message: 'Could not authenticate you' },
  'stale-timestamp': { code: 32, message: 'Could not authenticate you' },
  'nonce-used': { code: 32, message: 'Could not authenticate you' }
} as const

export type AuthenticationFailure = keyof typeof AUTHENTICATION_FAILURES

/** The 401 body of the older endpoints. */
export const legacyFailure = (failure: AuthenticationFailure) => ({ errors: [AUTHENTICATION_FAILURES[failure]] })
