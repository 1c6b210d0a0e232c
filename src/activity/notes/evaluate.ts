/**
 * How much a note reads like a claim that can be checked, and how little like an opinion: from 0 to 1, by what its text
 * holds. The same text on the same post always has the same score. See docs/decisions/0084.
 */
export interface Reading {
  /** Well-formed web addresses in the note. */
  urls: URL[]
  /** Everything beside them, in lower case. */
  words: string[]
  /** The words with a space around each, for phrases. */
  spaced: string
  /** The note without its addresses, as it was written. */
  prose: string
  postWords: ReadonlySet<string>
}

const CITING =
  'according to,reported,reports,report,published,study,studies,survey,data,statistics,records,archive,archived,official,officially,confirmed,source,sources,transcript,statement,footage,documents'.split(
    ','
  )
const OPINION =
  'i think,i believe,i feel,i guess,in my opinion,in my view,imo,imho,obviously,clearly,everyone knows,nobody believes,disgusting,terrible,horrible,awful,amazing,wonderful,best,worst,ridiculous,shameful,should be ashamed,of course,probably,maybe,seems like,looks like'.split(
    ','
  )
const INSULTS =
  'idiot,idiots,idiotic,moron,morons,stupid,dumb,liar,liars,scum,loser,losers,fool,fools,clown,clowns,trash,garbage,pathetic,imbecile,dumbass,crook,crooks'.split(
    ','
  )

const ADDRESS = /https?:\/\/[^\s<>"]+/gi
const wordsIn = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*/gu) ?? []

/** Addresses that somebody else could open: of the web, with a host that has a domain. */
export function urlsIn(text: string): URL[] {
  return (text.match(ADDRESS) ?? []).flatMap((address) => {
    const url = URL.parse(address.replace(/[.,;:!?'’)\]}]+$/, ''))
    return url && /[^.]\.[^.]/.test(url.hostname) && url.username === '' ? url : []
  })
}

export function readNote(text: string, postText: string): Reading {
  const prose = text.replaceAll(ADDRESS, ' ')
  const words = wordsIn(prose)
  return {
    urls: urlsIn(text),
    words,
    spaced: ` ${words.join(' ')} `,
    prose,
    postWords: new Set(wordsIn(postText).filter((word) => word.length > 3))
  }
}

const countOf = ({ spaced }: Reading, phrases: readonly string[]) =>
  phrases.filter((phrase) => spaced.includes(` ${phrase} `)).length
const isShouting = ({ prose }: Reading) => /!\s*!/.test(prose) || (prose.match(/\b\p{Lu}{4,}\b/gu) ?? []).length >= 3

interface Signal {
  name: string
  weight: number
  /** How much of it there is, from 0 to 1. */
  share(reading: Reading): number
}

/** The positive weights add up to 1. */
export const SIGNALS: readonly Signal[] = [
  { name: 'names a source', weight: 0.3, share: ({ urls }) => (urls.length > 0 ? 1 : 0) },
  {
    name: 'names a second one',
    weight: 0.05,
    share: ({ urls }) => (new Set(urls.map((url) => url.host)).size > 1 ? 1 : 0)
  },
  { name: 'says enough', weight: 0.15, share: ({ words }) => Math.min(1, words.length / 12) },
  { name: 'cites', weight: 0.15, share: (reading) => Math.min(1, countOf(reading, CITING)) },
  { name: 'has figures or quotes', weight: 0.1, share: ({ prose }) => (/\p{N}|["“„«]\s?\S/u.test(prose) ? 1 : 0) },
  {
    name: 'speaks of what the post speaks of',
    weight: 0.1,
    share: ({ words, postWords }) => Math.min(1, new Set(words.filter((word) => postWords.has(word))).size / 3)
  },
  {
    name: 'is calm',
    weight: 0.15,
    share: (reading) => (countOf(reading, OPINION) + countOf(reading, INSULTS) > 0 || isShouting(reading) ? 0 : 1)
  },
  { name: 'has an opinion', weight: -0.3, share: (reading) => Math.min(1, countOf(reading, OPINION) / 3) },
  { name: 'insults', weight: -0.5, share: (reading) => Math.min(1, countOf(reading, INSULTS) / 2) },
  { name: 'shouts', weight: -0.1, share: (reading) => (isShouting(reading) ? 1 : 0) }
]

export function claimOpinionScore(text: string, postText: string): number {
  const reading = readNote(text, postText)
  const sum = SIGNALS.reduce((total, { weight, share }) => total + weight * share(reading), 0)
  return Math.round(Math.min(1, Math.max(0, sum)) * 100) / 100
}

export const BUCKETS = ['Low', 'Medium', 'High'] as const
export const EVALUATORS = ['UrlValidity', 'HarassmentAbuse', 'ClaimOpinion'] as const

export interface TestResult {
  evaluator_type: (typeof EVALUATORS)[number]
  evaluator_score_bucket: (typeof BUCKETS)[number]
}

/** What holds the note back most: the evaluator with the lowest bucket, in their order. */
export function testResult(text: string, postText: string): TestResult {
  const reading = readNote(text, postText)
  const score = claimOpinionScore(text, postText)
  const secure = reading.urls.filter(({ protocol, hostname }) => protocol === 'https:' && !/^[\d.]+$/.test(hostname))
  const buckets: Record<TestResult['evaluator_type'], number> = {
    UrlValidity: secure.length === 0 ? 0 : secure.length < reading.urls.length ? 1 : 2,
    HarassmentAbuse: countOf(reading, INSULTS) > 0 ? 0 : isShouting(reading) ? 1 : 2,
    ClaimOpinion: score < 0.4 ? 0 : score < 0.7 ? 1 : 2
  }
  const evaluator_type = EVALUATORS.reduce((worst, each) => (buckets[each] < buckets[worst] ? each : worst))
  return { evaluator_type, evaluator_score_bucket: BUCKETS[buckets[evaluator_type]]! }
}
