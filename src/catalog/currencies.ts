/**
 * ISO 4217 codes in which a price can be written, by the number of decimals of the currency. Codes without a minor
 * unit (metals, bond units, XDR, XSU, XUA, XTS, XXX) are left out: no exact amount exists in them.
 */
const CODES_BY_DECIMALS: ReadonlyArray<readonly [decimals: number, codes: string]> = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [
    2,
    `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY
     COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS
     INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR
     MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP
     STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG`
  ],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW']
]

/** Decimals of each currency: `CURRENCY_DECIMALS.get('JPY') === 0`. */
export const CURRENCY_DECIMALS: ReadonlyMap<string, number> = new Map(
  CODES_BY_DECIMALS.flatMap(([decimals, codes]) => codes.split(/\s+/).map((code) => [code, decimals] as const))
)

/** Withdrawn codes that old shops still send, with what took their place; for the message only. */
export const WITHDRAWN_CURRENCIES: ReadonlyMap<string, string> = new Map([
  ['ANG', 'XCG'],
  ['BGN', 'EUR'],
  ['BYR', 'BYN'],
  ['CUC', 'CUP'],
  ['EEK', 'EUR'],
  ['HRK', 'EUR'],
  ['LTL', 'EUR'],
  ['LVL', 'EUR'],
  ['MRO', 'MRU'],
  ['SLL', 'SLE'],
  ['STD', 'STN'],
  ['TRL', 'TRY'],
  ['VEF', 'VES'],
  ['ZMK', 'ZMW'],
  ['ZWL', 'ZWG']
])
