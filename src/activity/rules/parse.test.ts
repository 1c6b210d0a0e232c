import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ruleText } from './arbitraries.ts'
import type { Rule } from './ast.ts'
import { parseRule, printRule } from './parse.ts'

const AMBIGUOUS_AND =
  'Ambiguous use of and as a keyword. Use a space to logically join two clauses, or "and" to find occurrences of and in text'

/** A rule, and every message it is refused with, in order. */
const REFUSED: [rule: string, messages: string[]][] = [
  // Structure.
  ['', ['Rule is empty (at position 1)']],
  ['   ', ['Rule is empty (at position 1)']],
  ['[(OpenAI OR GPT-3) (#OpenAI OR #AI)]', ["no viable alternative at input '[' (at position 1)"]],
  ['(pepsi OR cola) has:links) lang:en', ["missing EOF at ')' (at position 26)"]],
  ['(cat dog', ["missing ')' at '<EOF>' (at position 9)"]],
  ['()', ["no viable alternative at input ')' (at position 2)"]],
  ['OR cat', ["no viable alternative at input 'OR' (at position 1)"]],
  ['cat OR', ["no viable alternative at input '<EOF>' (at position 7)"]],
  ['cat OR OR dog', ["no viable alternative at input 'OR' (at position 8)"]],
  ['cat - dog', ["no viable alternative at input '-' (at position 5)"]],
  ['cat -', ["no viable alternative at input '-' (at position 5)"]],
  ['cat --dog', ["no viable alternative at input '-' (at position 6)"]],
  ["(pepsi OR cola OR 'coca cola')", ["no viable alternative at character ''' (at position 19)"]],
  ['cat ; dog', ["no viable alternative at character ';' (at position 5)"]],
  ['"cat', [`missing closing '"' at '<EOF>' (at position 1)`]],
  ['😀😀 cat)', ["missing EOF at ')' (at position 7)"]],
  [`${'('.repeat(101)}cat${')'.repeat(101)}`, ['Parentheses are nested more than 100 deep (at position 101)']],
  // Words that mean something else.
  ['streaming AND lang:en', [`${AMBIGUOUS_AND} (at position 11)`]],
  ['(humorous AND (film OR movies)) -is:retweet', [`${AMBIGUOUS_AND} (at position 11)`]],
  ['a and b and c', [`${AMBIGUOUS_AND} (at position 3)`, `${AMBIGUOUS_AND} (at position 9)`]],
  // Operators.
  ['h:m', ["Reference to invalid operator 'h' (at position 1)"]],
  ['cat since:2026-01-01', ["Reference to invalid operator 'since' (at position 5)"]],
  ['cat https://example.com', ["Reference to invalid operator 'https' (at position 5)"]],
  ['cat min_faves:10', ["Reference to invalid operator 'min_faves' (at position 5). Use min_likes: instead"]],
  ['cat min_retweets:10', ["Reference to invalid operator 'min_retweets' (at position 5). Use min_reposts: instead"]],
  ['list:123', ["Reference to invalid operator 'list' (at position 1). It is available in search only"]],
  ['from: ann', ["Operator 'from' has no value (at position 1)"]],
  [
    'x:1 y:2 cat',
    ["Reference to invalid operator 'x' (at position 1)", "Reference to invalid operator 'y' (at position 5)"]
  ],
  // Alone and negated.
  [
    'has:polls',
    [
      'is/has/lang cannot be used as a standalone operator (at position 1)',
      "Reference to invalid operator 'has:polls'."
    ]
  ],
  ['has:media', ['is/has/lang cannot be used as a standalone operator (at position 1)']],
  ['lang:en', ['is/has/lang cannot be used as a standalone operator (at position 1)']],
  [
    'has:links OR is:retweet',
    [
      'is/has/lang cannot be used as a standalone operator (at position 1)',
      'is/has/lang cannot be used as a standalone operator (at position 14)'
    ]
  ],
  ['cat OR (lang:en has:media)', ['is/has/lang cannot be used as a standalone operator (at position 9)']],
  ['(cat OR has:media) lang:en', ['is/has/lang cannot be used as a standalone operator (at position 9)']],
  ['source:web', ["'source' cannot be used as a standalone operator (at position 1)"]],
  ['sample:10', ["'sample' cannot be used as a standalone operator (at position 1)"]],
  ['-cat', ['Negations cannot stand alone, add a clause that is not negated (at position 1)']],
  ['-cat -is:retweet', ['Negations cannot stand alone, add a clause that is not negated (at position 1)']],
  ['-(cat OR dog)', ['Negations cannot stand alone, add a clause that is not negated (at position 1)']],
  [
    'apple OR -ipad',
    ['A negation cannot be an OR branch by itself, add a clause that is not negated (at position 10)']
  ],
  [
    'cat (apple OR (-ipad -iphone))',
    ['A negation cannot be an OR branch by itself, add a clause that is not negated (at position 16)']
  ],
  ['cat is:nullcast', ['is:nullcast can only be used negated, as -is:nullcast (at position 5)']],
  ['cat -(-is:nullcast)', ['is:nullcast can only be used negated, as -is:nullcast (at position 8)']],
  ['cat -sample:10', ["Operator 'sample' cannot be negated (at position 6)"]],
  ['cat -embedding:"electric cars"', ["Operator 'embedding' cannot be negated (at position 6)"]],
  [
    'a OR b sample:10',
    ["Operator 'sample' applies to the whole rule, put the OR terms in parentheses (at position 8)"]
  ],
  ['cat sample:10 sample:20', ["Operator 'sample' can be used once in a rule (at position 15)"]],
  ['cat embedding_threshold:0.5', ["Operator 'embedding_threshold' needs embedding: in the same rule (at position 5)"]],
  // Values.
  ['cat lang:xx', ["Invalid value 'xx' for operator 'lang': it is not a supported language code (at position 5)"]],
  ['cat sample:0', ["Invalid value '0' for operator 'sample': expected a whole number from 1 to 100 (at position 5)"]],
  [
    'cat sample:101',
    ["Invalid value '101' for operator 'sample': expected a whole number from 1 to 100 (at position 5)"]
  ],
  ['from:@ann', ["Invalid value '@ann' for operator 'from': write the username without @ (at position 1)"]],
  [
    'from:ann,bob',
    [
      "Invalid value 'ann,bob' for operator 'from': expected one username of up to 15 letters, digits and underscores, or a numeric id (at position 1)"
    ]
  ],
  ['conversation_id:x', ["Invalid value 'x' for operator 'conversation_id': expected a numeric id (at position 1)"]],
  [
    'followers_count:lots',
    ["Invalid value 'lots' for operator 'followers_count': expected a number N or a range N..M (at position 1)"]
  ],
  [
    'followers_count:9..3',
    ["Invalid value '9..3' for operator 'followers_count': the range ends before it begins (at position 1)"]
  ],
  ['min_likes:1..2', ["Invalid value '1..2' for operator 'min_likes': expected a number (at position 1)"]],
  [
    'place_country:UK',
    ["Invalid value 'UK' for operator 'place_country': expected an ISO alpha-2 country code (at position 1)"]
  ],
  [
    'context:*.*',
    [
      "Invalid value '*.*' for operator 'context': expected domain.entity, domain.* or *.entity with numeric ids (at position 1)"
    ]
  ],
  ['bio:"!!"', ["Invalid value '!!' for operator 'bio': it has no letters, digits or emoji to match (at position 1)"]],
  [
    'point_radius:[1 2 25mi]',
    ["Invalid value '1 2 25mi' for operator 'point_radius': the radius must be less than 25 mi (at position 1)"]
  ],
  [
    'point_radius:[1 2 41km]',
    ["Invalid value '1 2 41km' for operator 'point_radius': the radius must be less than 25 mi (at position 1)"]
  ],
  [
    'point_radius:[181 2 1mi]',
    ["Invalid value '181 2 1mi' for operator 'point_radius': longitude must be between -180 and 180 (at position 1)"]
  ],
  [
    'point_radius:[1 91 1mi]',
    ["Invalid value '1 91 1mi' for operator 'point_radius': latitude must be between -90 and 90 (at position 1)"]
  ],
  [
    'point_radius:"1 2 1mi"',
    [
      "Invalid value '1 2 1mi' for operator 'point_radius': expected [longitude latitude radius] with the radius in mi or km (at position 1)"
    ]
  ],
  ['point_radius:[1 2', ["missing ']' at '<EOF>' (at position 14)"]],
  [
    'bounding_box:[0 0 1 1]',
    ["Invalid value '0 0 1 1' for operator 'bounding_box': width and height must be less than 25 mi (at position 1)"]
  ],
  [
    'bounding_box:[1 1 0.9 1.1]',
    [
      "Invalid value '1 1 0.9 1.1' for operator 'bounding_box': west must be less than east, and south less than north (at position 1)"
    ]
  ],
  [
    'embedding:"the of"',
    ["Invalid value 'the of' for operator 'embedding': it has no words that carry meaning (at position 1)"]
  ],
  [
    'embedding:cars embedding_threshold:1.5',
    ["Invalid value '1.5' for operator 'embedding_threshold': expected a number from 0.00 to 1.00 (at position 16)"]
  ],
  ['"a b"~7', ['Proximity must be a number from 1 to 6 (at position 1)']],
  ['"a b"~', ['Proximity must be a number from 1 to 6 (at position 1)']],
  ['cat "dog"~2', ['Proximity needs at least two words (at position 5)']],
  ['"!?"', ["Phrase '!?' has no letters, digits or emoji to match (at position 1)"]],
  ['# cat', ["no viable alternative at input '#' (at position 1)"]],
  ['$100', ["no viable alternative at input '$100' (at position 1)"]],
  ['@this_name_is_too_long', ["no viable alternative at input '@this_name_is_too_long' (at position 1)"]],
  // Several mistakes are reported together.
  [
    'cat lang:xx foo:bar "a b"~9',
    [
      "Invalid value 'xx' for operator 'lang': it is not a supported language code (at position 5)",
      "Reference to invalid operator 'foo' (at position 13)",
      'Proximity must be a number from 1 to 6 (at position 21)'
    ]
  ]
]

for (const [rule, messages] of REFUSED) {
  test(`refuses ${rule.length > 60 ? `${rule.slice(0, 60)}…` : rule || 'nothing'}`, () => {
    const parsed = parseRule(rule)

    assert.ok(!parsed.ok)
    assert.deepEqual(
      parsed.errors.map(({ message }) => message),
      messages
    )
    for (const { message, position } of parsed.errors) {
      const stated = /\(at position (\d+)\)/.exec(message)?.[1]
      if (stated !== undefined) assert.equal(position, Number(stated))
    }
  })
}

test('counts characters, not bytes or code units, up to the limit', () => {
  assert.ok(parseRule('😀'.repeat(2048)).ok)
  assert.deepEqual(parseRule('😀'.repeat(2049)), {
    ok: false,
    errors: [{ message: 'Rule is 2049 characters long, the maximum is 2048', position: 2049 }]
  })
  assert.ok(!parseRule('a'.repeat(1025), { charactersMax: 1024 }).ok)
})

/** The structure in a form one can read: (and a (or b c)). */
function shape(rule: Rule): string {
  if (rule.type === 'and' || rule.type === 'or') return `(${rule.type} ${rule.rules.map(shape).join(' ')})`
  return rule.type === 'not' ? `(not ${shape(rule.rule)})` : printRule(rule)
}

const STRUCTURE: [rule: string, shape: string][] = [
  ['apple OR iphone ipad', '(or apple (and iphone ipad))'],
  ['ipad iphone OR android', '(or (and ipad iphone) android)'],
  ['(apple OR iphone) ipad', '(and (or apple iphone) ipad)'],
  ['a b OR c d OR e', '(or (and a b) (and c d) e)'],
  ['cat #meme -grumpy', '(and cat #meme (not grumpy))'],
  ['a -b OR c', '(or (and a (not b)) c)'],
  ['skiing -(snow OR day)', '(and skiing (not (or snow day)))'],
  ['((cat))', 'cat'],
  ['(a)(b)', '(and a b)'],
  ['salt or pepper', '(and salt or pepper)'],
  ['"rock and roll"', '"rock and roll"'],
  ['coca-cola', 'coca-cola'],
  ["don't", "don't"],
  ['FROM:Ann Lang:EN', '(and from:Ann lang:en)'],
  ['"X data" has:mentions (has:media OR has:links)', '(and "X data" has:mentions (or has:media has:links))'],
  ['cat has:symbols has:videos has:media_link', '(and cat has:cashtags has:video_link has:media)'],
  ['"she said \\"hi\\" \\\\o/"', '"she said \\"hi\\" \\\\o/"'],
  ['"a b"~3', '"a b"~3'],
  ['from:ann url:https://example.com/a?b=c#d', '(and from:ann url:"https://example.com/a?b=c#d")'],
  ['(from:ann)', 'from:ann']
]

for (const [rule, expected] of STRUCTURE) {
  test(`reads ${rule} as ${expected}`, () => {
    const parsed = parseRule(rule)

    assert.ok(parsed.ok, JSON.stringify(parsed))
    assert.equal(shape(parsed.rule), expected)
  })
}

const ALIASES: [alias: string, name: string][] = [
  ['retweets_of_user:ann', 'retweets_of:ann'],
  ['user_bio:vegan', 'bio:vegan'],
  ['user_bio_location:paris', 'bio_location:paris'],
  ['geo_bounding_box:[0 0 0.1 0.1]', 'bounding_box:[0 0 0.1 0.1]'],
  ['in_reply_to_status_id:1', 'in_reply_to_tweet_id:1'],
  ['retweets_of_status_id:1', 'retweets_of_tweet_id:1'],
  ['within_url_title:snow', 'url_title:snow'],
  ['within_url_description:snow', 'url_description:snow'],
  ['statuses_count:5', 'tweets_count:5'],
  ['friends_count:5', 'following_count:5'],
  ['user_in_lists_count:5', 'listed_count:5']
]

for (const [alias, name] of ALIASES) {
  test(`${alias} is another way to write ${name}`, () => {
    const parsed = parseRule(alias)
    assert.ok(parsed.ok)
    assert.equal(printRule(parsed.rule), name)
  })
}

test('says where each clause is', () => {
  const parsed = parseRule('😀 "new york" -(dog OR lang:en)')

  assert.ok(parsed.ok && parsed.rule.type === 'and')
  assert.deepEqual(
    parsed.rule.rules.map(({ position }) => position),
    [1, 3, 14]
  )
})

test('says what concerns the rule as a whole', () => {
  const parsed = parseRule('(embedding:"electric cars" OR embedding:trains) sample:25 embedding_threshold:0.45')

  assert.ok(parsed.ok)
  assert.deepEqual(parsed.info, { characters: 82, clauses: 4, sample: 25, embedding: true })
  assert.ok(!JSON.stringify(parsed.rule).includes('"threshold":0.3'), 'the threshold reaches every embedding')
})

const withoutPositions = (rule: Rule): unknown =>
  JSON.parse(JSON.stringify(rule, (key, value) => (key === 'position' ? undefined : value)))

test('prints every rule so that it reads back the same', () => {
  fc.assert(
    fc.property(ruleText, (text) => {
      const parsed = parseRule(text)
      assert.ok(parsed.ok, `${text}: ${JSON.stringify(parsed)}`)

      const again = parseRule(printRule(parsed.rule))

      assert.ok(again.ok)
      assert.deepEqual(withoutPositions(again.rule), withoutPositions(parsed.rule))
      assert.equal(printRule(again.rule), printRule(parsed.rule))
    }),
    { numRuns: 500 }
  )
})

test('answers any text with a rule or with errors inside it', () => {
  const piece = fc.oneof(
    ruleText,
    fc.constantFrom('(', ')', '-', 'OR', '"', '[', ']', ':', '~', '#', '@', '$', ' ', 'is:', 'AND', '\\', '😀'),
    fc.string({ maxLength: 6, unit: 'binary' })
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join('')
      const parsed = parseRule(text)

      if (parsed.ok) return
      assert.ok(parsed.errors.length > 0)
      for (const { position } of parsed.errors) {
        assert.ok(position >= 1 && position <= [...text].length + 1, `${position} in ${JSON.stringify(text)}`)
      }
    }),
    { numRuns: 1000 }
  )
})
