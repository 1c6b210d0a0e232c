/** OAuth 2.0 scopes and OAuth 1.0a permission levels, with the words the consent page shows. */

export const SCOPES = {
  'tweet.read': 'See posts that you can see, including those of protected accounts.',
  'tweet.write': 'Post and repost for you.',
  'tweet.moderate.write': 'Hide and unhide replies to your posts.',
  'users.read': 'See accounts that you can see, including protected ones.',
  'users.email': 'See the email address of your account.',
  'follows.read': 'See who you follow and who follows you.',
  'follows.write': 'Follow and unfollow people for you.',
  'offline.access': 'Stay connected to your account until you revoke access.',
  'space.read': 'See Spaces that you can see.',
  'mute.read': 'See accounts that you have muted.',
  'mute.write': 'Mute and unmute accounts for you.',
  'like.read': 'See posts that you have liked and likes that you can see.',
  'like.write': 'Like and unlike posts for you.',
  'list.read': 'See lists that you can see, with their members and followers.',
  'list.write': 'Create and manage lists for you.',
  'block.read': 'See accounts that you have blocked.',
  'block.write': 'Block and unblock accounts for you.',
  'bookmark.read': 'See your bookmarked posts.',
  'bookmark.write': 'Bookmark posts and remove bookmarks for you.',
  'dm.read': 'See your direct messages.',
  'dm.write': 'Send and manage direct messages for you.',
  'media.write': 'Upload media for you.',
  'timeline.read': 'See your timeline.',
  'broadcast.read': 'See your broadcasts.',
  'broadcast.write': 'Create and manage broadcasts for you.',
  'ads.read': 'See the ad accounts you have access to, their campaigns and their results.',
  'ads.write': 'Create and change campaigns in the ad accounts you have access to.'
} as const

export type Scope = keyof typeof SCOPES
export const ALL_SCOPES = Object.keys(SCOPES) as Scope[]

/** Document 1 spells one scope without its s. */
const ALIASES: Record<string, Scope> = { 'follow.read': 'follows.read' }

/** The canonical scope, or undefined for a name that is none. */
export function scopeNamed(name: string): Scope | undefined {
  if (Object.hasOwn(SCOPES, name)) return name as Scope
  return Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined
}

/** A space-separated `scope` parameter: each scope once, in the order asked for, and the names that are no scopes. */
export function parseScopes(text: string) {
  const scopes = new Set<Scope>()
  const unknown: string[] = []
  for (const name of text.split(/\s+/).filter(Boolean)) {
    const scope = scopeNamed(name)
    if (scope) scopes.add(scope)
    else unknown.push(name)
  }
  return { scopes: [...scopes], unknown }
}

/** From the least to the most; each includes the ones before it. */
export const PERMISSION_LEVELS = ['read', 'read-write', 'read-write-directmessages'] as const
export type PermissionLevel = (typeof PERMISSION_LEVELS)[number]

export const PERMISSION_LEVEL_SENTENCES: Record<PermissionLevel, string[]> = {
  read: ['See posts, accounts and settings that you can see.'],
  'read-write': ['See posts, accounts and settings that you can see.', 'Post and change your profile for you.'],
  'read-write-directmessages': [
    'See posts, accounts and settings that you can see.',
    'Post and change your profile for you.',
    'See and send direct messages for you.'
  ]
}

export const includesLevel = (held: PermissionLevel, needed: PermissionLevel) =>
  PERMISSION_LEVELS.indexOf(held) >= PERMISSION_LEVELS.indexOf(needed)

export const lowerLevel = (a: PermissionLevel, b: PermissionLevel) => (includesLevel(a, b) ? b : a)
