/** Languages that lang: knows; posts that could not be classified carry "und". */
export const LANG_CODES: readonly string[] =
  `am ar hy eu bn bs bg my hr ca cs da nl en et fi fr ka de el gu ht iw hi hi-Latn hu is in it ja kn km ko lo lv lt ml dv
  mr ne no or pa ps fa pl pt ro ru sr zh-CN sd si sk sl ckb es sv tl ta te th bo zh-TW tr uk ur ug vi cy und`.split(
    /\s+/
  )

/** ISO 3166-1 alpha-2, and XK, which places of Kosovo carry. */
export const COUNTRY_CODES: readonly string[] =
  `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC
  CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD
  GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH
  KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW
  MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC
  SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY
  UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW`.split(/\s+/)

/** Posts may carry a newer or wider code than rules are written with. */
const RULE_CODES_OF_POST_LANG: Record<string, string[]> = {
  he: ['iw'],
  id: ['in'],
  nb: ['no'],
  zh: ['zh-CN', 'zh-TW']
}

const byLowerCase = new Map(LANG_CODES.map((code) => [code.toLowerCase(), [code]]))

/** The lang: codes that a post's language answers to. */
export function ruleLangs(lang: string | undefined): readonly string[] {
  if (lang === undefined || lang === '') return ['und']
  const lower = lang.toLowerCase()
  return RULE_CODES_OF_POST_LANG[lower] ?? byLowerCase.get(lower) ?? []
}
