/** What rules see of a post: a v2 Post with its includes, read only as far as a rule asks. See decisions/0032. */
import { ruleLangs } from './codes.ts'
import { type Bag, bagOf } from './embedding.ts'
import type { Box } from './geo.ts'
import { fold, tokenize } from './tokens.ts'

export interface RawUser {
  id: string
  name?: string
  username?: string
  description?: string
  location?: string
  verified?: boolean
  verified_type?: string
  public_metrics?: { followers_count?: number; following_count?: number; tweet_count?: number; listed_count?: number }
  affiliation?: { user_id?: string | string[]; url?: string }
}

export interface RawUrl {
  url?: string
  expanded_url?: string
  unwound_url?: string
  title?: string
  description?: string
  media_key?: string
}

interface RawEntities {
  hashtags?: { tag: string }[]
  cashtags?: { tag: string }[]
  mentions?: { username: string; id?: string }[]
  urls?: RawUrl[]
  annotations?: { normalized_text?: string }[]
}

export interface RawPost {
  id: string
  text?: string
  note_tweet?: { text?: string; entities?: RawEntities }
  author_id?: string
  conversation_id?: string
  lang?: string
  source?: string
  nullcast?: boolean
  in_reply_to_user_id?: string
  in_reply_to_tweet_id?: string
  referenced_tweets?: { type: string; id: string }[]
  entities?: RawEntities
  context_annotations?: { domain?: { id: string }; entity?: { id: string; name?: string } }[]
  attachments?: { media_keys?: string[] }
  geo?: { place_id?: string; coordinates?: { coordinates?: number[] } }
  public_metrics?: { like_count?: number; reply_count?: number; retweet_count?: number; repost_count?: number }
}

export interface RawPlace {
  id: string
  name?: string
  full_name?: string
  country_code?: string
  geo?: { bbox?: number[] }
}

export interface RawMedia {
  media_key: string
  type?: string
}

export interface Includes {
  users?: RawUser[]
  tweets?: RawPost[]
  places?: RawPlace[]
  media?: RawMedia[]
}

/** One text with what belongs to it: the post itself or its original, and the post it quotes. Phrases end with it. */
export class Content {
  readonly post: RawPost
  readonly text: string
  private tokenList: readonly string[] | undefined
  private hashtagList: readonly string[] | undefined
  private cashtagList: readonly string[] | undefined
  private mentionList: readonly string[] | undefined
  private urlList: readonly RawUrl[] | undefined

  constructor(post: RawPost) {
    this.post = post
    // A long post carries its whole text apart; `text` is then its beginning.
    this.text = post.note_tweet?.text ?? post.text ?? ''
  }

  get tokens(): readonly string[] {
    this.tokenList ??= tokenize(this.text)
    return this.tokenList
  }

  get hashtags(): readonly string[] {
    this.hashtagList ??= this.entity('hashtags')?.map(({ tag }) => fold(tag)) ?? hashtagsIn(this.text)
    return this.hashtagList
  }

  get cashtags(): readonly string[] {
    this.cashtagList ??= this.entity('cashtags')?.map(({ tag }) => fold(tag)) ?? cashtagsIn(this.text)
    return this.cashtagList
  }

  get mentions(): readonly string[] {
    this.mentionList ??= this.entity('mentions')?.map(({ username }) => fold(username)) ?? mentionsIn(this.text)
    return this.mentionList
  }

  get urls(): readonly RawUrl[] {
    this.urlList ??= this.entity('urls') ?? urlsIn(this.text)
    return this.urlList
  }

  get annotationNames(): string[] {
    return [
      ...(this.post.context_annotations ?? []).map(({ entity }) => entity?.name),
      ...(this.entity('annotations') ?? []).map(({ normalized_text }) => normalized_text)
    ].filter((name) => name !== undefined)
  }

  private entity<Kind extends keyof RawEntities>(kind: Kind): RawEntities[Kind] {
    return this.post.note_tweet?.entities?.[kind] ?? this.post.entities?.[kind]
  }
}

const NONE: readonly string[] = []
const NO_URLS: readonly RawUrl[] = []

// Publishers may leave entities out; then the text speaks for itself.
const HASHTAGS = /(?<![\p{L}\p{M}\p{N}_&])[#＃]([\p{L}\p{M}\p{N}_]+)/gu
const CASHTAGS = /(?<![\p{L}\p{N}_$])\$([a-z]{1,6}(?:[._][a-z]{1,2})?)(?![\p{L}\p{N}_])/giu
const MENTIONS = /(?<![\p{L}\p{N}_@])[@＠]([a-z0-9_]{1,15})(?![\p{L}\p{N}_@])/giu
const URLS = /https?:\/\/[^\s"<>]+/gi

const find = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => fold(name as string))

const hashtagsIn = (text: string) =>
  text.includes('#') || text.includes('＃') ? find(text, HASHTAGS).filter((tag) => !/^[0-9_]+$/.test(tag)) : NONE

const cashtagsIn = (text: string) => (text.includes('$') ? find(text, CASHTAGS) : NONE)

const mentionsIn = (text: string) => (text.includes('@') || text.includes('＠') ? find(text, MENTIONS) : NONE)

const urlsIn = (text: string) =>
  text.includes('://') ? (text.match(URLS) ?? []).map((url): RawUrl => ({ url })) : NO_URLS

/** How a media key begins says what it is, when the media object itself was not included. */
const MEDIA_TYPES: Record<string, string> = { '3': 'photo', '7': 'video', '13': 'video', '16': 'animated_gif' }

export type BioField = 'description' | 'name' | 'location'
export type UrlField = 'address' | 'title' | 'description'

const NOTHING_INCLUDED: Includes = {}

export class PostView {
  readonly post: RawPost
  readonly includes: Includes
  private contentList: readonly Content[] | undefined
  private knownAuthor: RawUser | undefined | null = null
  private bioLists: Partial<Record<BioField, readonly string[]>> | undefined
  private urlLists: Partial<Record<UrlField, readonly (readonly string[])[]>> | undefined
  private mediaTypeList: readonly (string | undefined)[] | undefined
  private stems: Bag | undefined

  constructor(post: RawPost, includes: Includes = NOTHING_INCLUDED) {
    this.post = post
    this.includes = includes
  }

  userById(id: string | undefined): RawUser | undefined {
    return id === undefined ? undefined : this.includes.users?.find((user) => user.id === id)
  }

  postById(id: string | undefined): RawPost | undefined {
    return id === undefined ? undefined : this.includes.tweets?.find((post) => post.id === id)
  }

  get author(): RawUser | undefined {
    if (this.knownAuthor === null) this.knownAuthor = this.userById(this.post.author_id)
    return this.knownAuthor
  }

  /** A repost's content is its original's. What a post quotes is content of the post, too. */
  get contents(): readonly Content[] {
    if (!this.contentList) {
      const base = this.postById(referenced(this.post, 'retweeted')) ?? this.post
      const quoted = this.postById(referenced(base, 'quoted'))
      this.contentList = quoted ? [new Content(base), new Content(quoted)] : [new Content(base)]
    }
    return this.contentList
  }

  get isRepost() {
    return this.repostedId !== undefined
  }

  get repostedId() {
    return referenced(this.post, 'retweeted')
  }

  get isQuote() {
    return referenced(this.post, 'quoted') !== undefined
  }

  get isReply() {
    return this.repliedToId !== undefined || this.post.in_reply_to_user_id !== undefined
  }

  get repliedToId() {
    return referenced(this.post, 'replied_to') ?? this.post.in_reply_to_tweet_id
  }

  /** Id and username of a user, folded, as from: and its like compare them. */
  get authorNames(): readonly string[] {
    return namesOf(this.post.author_id, this.author?.username)
  }

  get repliedToNames(): readonly string[] {
    const id = this.post.in_reply_to_user_id ?? this.postById(this.repliedToId)?.author_id
    return namesOf(id, this.userById(id)?.username)
  }

  get repostedNames(): readonly string[] {
    if (!this.isRepost) return NONE
    const id = this.postById(this.repostedId)?.author_id
    const username = this.userById(id)?.username ?? /^RT @([a-z0-9_]{1,15}):/i.exec(this.post.text ?? '')?.[1]
    return namesOf(id, username)
  }

  get authorAffiliations(): readonly string[] {
    return this.affiliationsOf(this.author)
  }

  get repliedToAffiliations(): readonly string[] {
    return this.affiliationsOf(this.userById(this.post.in_reply_to_user_id))
  }

  /** The organisations' ids, and their usernames where includes or the profile link tell them. */
  private affiliationsOf(user: RawUser | undefined): readonly string[] {
    const affiliation = user?.affiliation
    if (!affiliation) return NONE
    const fromUrl = affiliation.url === undefined ? undefined : /\/([a-z0-9_]{1,15})\/?$/i.exec(affiliation.url)?.[1]
    return [
      ...[affiliation.user_id ?? []].flat().flatMap((id) => namesOf(id, this.userById(id)?.username)),
      ...namesOf(undefined, fromUrl)
    ]
  }

  bioTokens(field: BioField): readonly string[] {
    this.bioLists ??= {}
    this.bioLists[field] ??= tokenize(this.author?.[field] ?? '')
    return this.bioLists[field]
  }

  get urls(): readonly RawUrl[] {
    return this.contents.length === 1
      ? (this.contents[0] as Content).urls
      : this.contents.flatMap((content) => content.urls)
  }

  /** Short, expanded and unwound address of every link. */
  get addresses(): string[] {
    return this.urls
      .flatMap(({ url, expanded_url, unwound_url }) => [url, expanded_url, unwound_url])
      .filter((address) => address !== undefined)
  }

  /** One list of tokens for every address, title or description. */
  urlTokens(field: UrlField): readonly (readonly string[])[] {
    this.urlLists ??= {}
    this.urlLists[field] ??= (field === 'address' ? this.addresses : this.urls.map((url) => url[field] ?? '')).map(
      tokenize
    )
    return this.urlLists[field]
  }

  /** Reposts carry no place of their own, and never match by their original's. */
  get place(): RawPlace | undefined {
    const id = this.isRepost ? undefined : this.post.geo?.place_id
    if (id === undefined) return undefined
    return this.includes.places?.find((place) => place.id === id) ?? { id }
  }

  /** The exact point if there is one, else the extent of the place. */
  get box(): Box | undefined {
    if (this.isRepost) return undefined
    const [longitude, latitude] = this.post.geo?.coordinates?.coordinates ?? []
    if (longitude !== undefined && latitude !== undefined) return [longitude, latitude, longitude, latitude]
    const bbox = this.place?.geo?.bbox
    return bbox?.length === 4 ? (bbox as Box) : undefined
  }

  get hasGeo() {
    return !this.isRepost && (this.post.geo?.place_id !== undefined || this.post.geo?.coordinates !== undefined)
  }

  /** photo, video or animated_gif of everything attached; undefined where that is not known. */
  get mediaTypes(): readonly (string | undefined)[] {
    this.mediaTypeList ??= this.findMediaTypes()
    return this.mediaTypeList
  }

  private findMediaTypes() {
    const keys = new Set<string>()
    for (const { post } of this.contents) for (const key of post.attachments?.media_keys ?? []) keys.add(key)
    for (const { media_key } of this.urls) if (media_key !== undefined) keys.add(media_key)
    return [...keys].map(
      (key) =>
        this.includes.media?.find((media) => media.media_key === key)?.type ?? MEDIA_TYPES[key.split('_')[0] as string]
    )
  }

  get langs(): readonly string[] {
    return ruleLangs(this.post.lang ?? this.contents[0]?.post.lang)
  }

  get bag(): Bag {
    this.stems ??= bagOf(this.contents.flatMap(({ tokens }) => tokens))
    return this.stems
  }

  /** 0..99, the same on every node and for every rule: sample:10 takes the posts below 10. */
  get sampleSlot(): number {
    let hash = 0x811c9dc5
    for (let at = 0; at < this.post.id.length; at++) hash = Math.imul(hash ^ this.post.id.charCodeAt(at), 0x01000193)
    // Ids differ in their last digits, which the plain hash hardly spreads.
    hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
    return ((hash ^ (hash >>> 16)) >>> 0) % 100
  }
}

const namesOf = (id: string | undefined, username: string | undefined): readonly string[] => {
  if (username !== undefined) return id === undefined ? [fold(username)] : [id, fold(username)]
  return id === undefined ? NONE : [id]
}

const referenced = (post: RawPost, type: string): string | undefined => {
  const references = post.referenced_tweets
  if (references === undefined) return undefined
  for (const reference of references) if (reference.type === type) return reference.id
  return undefined
}
