/**
 * What the default population is like, country by country and interest by interest. Plausible, not measured: enough that
 * languages go with countries, devices with platforms, ages and genders with interests.
 */

export interface CountryModel {
  /** Share of the inhabitants who are in the population, relative to other countries. */
  reach: number
  /** Share of mobile users on iOS; nearly all others are on Android. */
  ios: number
  /** From 0 (old) to 1 (young). */
  young: number
  /** Shares in percent; the rest is the first one's. */
  languages: Record<string, number>
}

const country = (reach: number, ios: number, young: number, languages: Record<string, number>): CountryModel => ({
  reach,
  ios,
  young,
  languages
})

export const COUNTRIES: Record<string, CountryModel> = {
  US: country(0.28, 0.57, 0.4, { en: 80, es: 15, 'zh-cn': 1, ko: 1, vi: 1, fr: 1, ar: 1 }),
  CA: country(0.25, 0.58, 0.4, { en: 77, fr: 20, 'zh-cn': 1, ar: 1, es: 1 }),
  MX: country(0.13, 0.24, 0.6, { es: 97, en: 3 }),
  BR: country(0.1, 0.18, 0.6, { pt: 97, en: 2, es: 1 }),
  AR: country(0.14, 0.13, 0.5, { es: 97, en: 3 }),
  CL: country(0.2, 0.25, 0.5, { es: 97, en: 3 }),
  CO: country(0.1, 0.16, 0.6, { es: 98, en: 2 }),
  PE: country(0.06, 0.14, 0.6, { es: 98, en: 2 }),
  VE: country(0.07, 0.1, 0.6, { es: 98, en: 2 }),
  EC: country(0.07, 0.14, 0.6, { es: 98, en: 2 }),
  GB: country(0.3, 0.52, 0.4, { en: 94, pl: 1, fr: 1, es: 1, ar: 1, ur: 1, pt: 1 }),
  IE: country(0.3, 0.5, 0.4, { en: 96, pl: 2, pt: 1, es: 1 }),
  FR: country(0.17, 0.35, 0.4, { fr: 93, en: 4, ar: 2, es: 1 }),
  DE: country(0.14, 0.38, 0.35, { de: 88, en: 8, tr: 3, ru: 1 }),
  AT: country(0.1, 0.38, 0.35, { de: 92, en: 6, tr: 2 }),
  CH: country(0.11, 0.55, 0.35, { de: 62, fr: 23, en: 8, it: 7 }),
  NL: country(0.2, 0.4, 0.4, { nl: 88, en: 11, tr: 1 }),
  BE: country(0.13, 0.4, 0.4, { nl: 55, fr: 40, en: 5 }),
  ES: country(0.19, 0.26, 0.4, { es: 88, ca: 8, en: 4 }),
  PT: country(0.14, 0.3, 0.4, { pt: 94, en: 6 }),
  IT: country(0.1, 0.31, 0.35, { it: 95, en: 5 }),
  GR: country(0.1, 0.25, 0.35, { el: 93, en: 7 }),
  SE: country(0.16, 0.56, 0.4, { sv: 88, en: 12 }),
  NO: country(0.2, 0.62, 0.4, { no: 88, en: 12 }),
  DK: country(0.15, 0.6, 0.4, { da: 88, en: 12 }),
  FI: country(0.15, 0.37, 0.4, { fi: 88, en: 9, sv: 3 }),
  PL: country(0.06, 0.12, 0.45, { pl: 95, en: 4, uk: 1 }),
  TR: country(0.22, 0.2, 0.6, { tr: 97, en: 3 }),
  IL: country(0.1, 0.32, 0.5, { he: 78, ar: 12, en: 6, ru: 4 }),
  SA: country(0.38, 0.43, 0.7, { ar: 92, en: 7, ur: 1 }),
  AE: country(0.3, 0.36, 0.6, { ar: 45, en: 46, hi: 5, ur: 4 }),
  KW: country(0.45, 0.5, 0.65, { ar: 90, en: 10 }),
  QA: country(0.25, 0.4, 0.6, { ar: 65, en: 35 }),
  BH: country(0.3, 0.42, 0.65, { ar: 80, en: 20 }),
  EG: country(0.05, 0.12, 0.75, { ar: 96, en: 4 }),
  NG: country(0.03, 0.1, 0.8, { en: 99, fr: 1 }),
  KE: country(0.04, 0.08, 0.8, { en: 99, fr: 1 }),
  ZA: country(0.06, 0.16, 0.6, { en: 99, fr: 1 }),
  IN: country(0.019, 0.05, 0.75, { en: 48, hi: 36, ta: 5, te: 3, mr: 3, bn: 2, gu: 1, kn: 2 }),
  PK: country(0.02, 0.06, 0.8, { ur: 60, en: 40 }),
  BD: country(0.01, 0.05, 0.8, { bn: 80, en: 20 }),
  ID: country(0.09, 0.1, 0.75, { id: 96, en: 4 }),
  MY: country(0.14, 0.25, 0.6, { ms: 66, en: 27, 'zh-cn': 7 }),
  SG: country(0.3, 0.36, 0.45, { en: 82, 'zh-cn': 14, ms: 4 }),
  TH: country(0.19, 0.29, 0.55, { th: 95, en: 5 }),
  VN: country(0.05, 0.3, 0.65, { vi: 95, en: 5 }),
  PH: country(0.12, 0.12, 0.75, { en: 58, fil: 42 }),
  HK: country(0.2, 0.45, 0.4, { 'zh-tw': 80, en: 20 }),
  TW: country(0.12, 0.46, 0.4, { 'zh-tw': 94, en: 4, ja: 2 }),
  JP: country(0.5, 0.66, 0.4, { ja: 97, en: 2, ko: 1 }),
  KR: country(0.17, 0.26, 0.45, { ko: 96, en: 4 }),
  AU: country(0.2, 0.58, 0.4, { en: 94, 'zh-cn': 3, ar: 2, vi: 1 }),
  NZ: country(0.17, 0.5, 0.4, { en: 97, 'zh-cn': 3 })
}

/** A country of the lookup that has no row above. */
export const OTHER_COUNTRY = country(0.03, 0.22, 0.55, { en: 100 })

/** Lowest and highest age of each band, with its weight among the old and among the young. */
export const AGE_BANDS: [from: number, to: number, old: number, young: number][] = [
  [13, 17, 5, 11],
  [18, 20, 7, 15],
  [21, 24, 9, 18],
  [25, 34, 25, 30],
  [35, 49, 28, 18],
  [50, 54, 8, 4],
  [55, 64, 11, 3],
  [65, 84, 7, 1]
]

/** Of those whose gender is known; it is unknown for some. */
export const MALE_SHARE = 0.58
export const GENDER_UNKNOWN_SHARE = 0.04
export const WIFI_ONLY_SHARE = 0.18
/** People who also read in English where another language is first. */
export const SECOND_LANGUAGE_SHARE = 0.12

/** How much people do: many little, few a lot. Whoever does more has more of everything. */
export const ACTIVITY: [share: number, factor: number][] = [
  [0.5, 0.45],
  [0.35, 1.1],
  [0.15, 2.6]
]

export interface GroupModel {
  /** Share of people with a typical interest of the group. */
  share: number
  male: number
  female: number
  /** Under 25, 25 to 49, 50 and over. */
  ages: [number, number, number]
}

const group = (share: number, male: number, female: number, ages: GroupModel['ages']): GroupModel => ({
  share,
  male,
  female,
  ages
})

export const INTEREST_GROUPS: Record<string, GroupModel> = {
  'Books and literature': group(0.05, 0.8, 1.3, [0.8, 1, 1.4]),
  Automotive: group(0.045, 1.5, 0.5, [0.8, 1.1, 1.1]),
  Beauty: group(0.06, 0.25, 2, [1.5, 1, 0.5]),
  Business: group(0.05, 1.2, 0.8, [0.6, 1.3, 0.9]),
  Careers: group(0.04, 1, 1, [1, 1.3, 0.4]),
  Education: group(0.05, 0.9, 1.2, [1.5, 0.9, 0.6]),
  Events: group(0.06, 0.9, 1.2, [1.2, 1.1, 0.6]),
  'Family and parenting': group(0.05, 0.6, 1.6, [0.3, 1.5, 0.7]),
  'Food and drink': group(0.07, 0.9, 1.2, [0.9, 1.1, 1]),
  Gaming: group(0.08, 1.5, 0.5, [1.8, 0.9, 0.2]),
  Health: group(0.06, 0.8, 1.3, [0.8, 1.1, 1.1]),
  'Hobbies and interests': group(0.045, 0.9, 1.2, [0.9, 1, 1.2]),
  'Home and garden': group(0.045, 0.9, 1.2, [0.4, 1.2, 1.4]),
  'Law, government, and politics': group(0.06, 1.2, 0.8, [0.6, 1, 1.6]),
  'Life stages': group(0.03, 0.9, 1.2, [0.8, 1.2, 0.8]),
  'Movies and television': group(0.1, 1, 1.1, [1.3, 1, 0.7]),
  'Music and radio': group(0.1, 1, 1.1, [1.5, 0.9, 0.6]),
  'Personal finance': group(0.05, 1.3, 0.6, [0.6, 1.3, 1]),
  Pets: group(0.05, 0.8, 1.4, [1, 1, 1]),
  Science: group(0.05, 1.2, 0.8, [1, 1, 1]),
  Society: group(0.05, 0.9, 1.1, [1, 1, 1]),
  Sports: group(0.09, 1.4, 0.5, [1.1, 1.1, 0.8]),
  'Style and fashion': group(0.06, 0.5, 1.7, [1.5, 1, 0.4]),
  'Technology and computing': group(0.07, 1.4, 0.5, [1.1, 1.2, 0.6]),
  Travel: group(0.06, 0.9, 1.2, [0.8, 1.2, 1])
}

/** An interest of a group that has no row above. */
export const OTHER_GROUP = group(0.04, 1, 1, [1, 1, 1])

/** Interests that belong to some countries more than to others; elsewhere they are rare. */
export const REGIONAL: Record<string, { countries: string[]; inside: number; outside: number }> = {
  'Sports/Cricket': { countries: ['IN', 'PK', 'BD', 'LK', 'GB', 'AU', 'NZ', 'ZA'], inside: 3, outside: 0.1 },
  'Sports/American football': { countries: ['US', 'CA', 'MX'], inside: 2, outside: 0.2 },
  'Sports/Baseball': { countries: ['US', 'JP', 'KR', 'TW', 'MX', 'VE', 'DO', 'PR'], inside: 1.6, outside: 0.1 },
  'Sports/Ice hockey': { countries: ['CA', 'US', 'SE', 'FI', 'CZ', 'NO', 'CH'], inside: 1.6, outside: 0.1 },
  'Sports/Rugby': { countries: ['GB', 'IE', 'FR', 'NZ', 'AU', 'ZA', 'IT', 'JP'], inside: 1.8, outside: 0.15 },
  'Music and radio/Latin music': {
    countries: ['MX', 'AR', 'CL', 'CO', 'PE', 'VE', 'EC', 'ES', 'DO', 'PR', 'GT', 'CR', 'UY', 'US', 'BR'],
    inside: 1.8,
    outside: 0.15
  },
  'Music and radio/Country': { countries: ['US', 'CA', 'AU'], inside: 2, outside: 0.1 }
}

/** The interest group that a conversation goes with; people with such an interest talk about it more. */
export const CONVERSATION_GROUPS: [pattern: RegExp, group: string][] = [
  [/^(SPORTS|ATHLETES|COACHES)/, 'Sports'],
  [/^VIDEO_GAME/, 'Gaming'],
  [/^(MUSIC|RADIO|PODCASTS)/, 'Music and radio'],
  [/^BOOK/, 'Books and literature'],
  [/^(MOVIE|ACTORS|ENTERTAINMENT|TV|FICTIONAL|CELEBRITIES)/, 'Movies and television'],
  [/^(NEWS|POLITIC|JOURNALISTS)/, 'Law, government, and politics'],
  [/^(BRAND|PRODUCTS)/, 'Style and fashion'],
  [/^PLACES/, 'Travel'],
  [/^(LIFESTYLES|TRENDS)/, 'Society'],
  [/^PERSONS/, 'Science'],
  [/^DIGITAL/, 'Technology and computing']
]
