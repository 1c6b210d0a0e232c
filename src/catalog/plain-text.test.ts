import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findHtml, findHtmlEntity, hasHexColor, isLongerThan } from './plain-text.ts'

const characters: [name: string, one: string][] = [
  ['a letter', 'a'],
  ['a letter with a combining accent', 'e\u0301'],
  ['a family emoji', '👨‍👩‍👧‍👦'],
  ['a flag', '🇩🇪'],
  ['a Chinese character', '鞋'],
  ['a Devanagari syllable', 'नि'],
  ['a line break of two bytes', '\r\n']
]

for (const [name, one] of characters) {
  test(`counts ${name} as one character`, () => {
    assert.equal(isLongerThan(one.repeat(150), 150), false)
    assert.equal(isLongerThan(one.repeat(151), 150), true)
  })
}

test('does not let one endless character through', () => {
  assert.equal(isLongerThan(`e${'\u0301'.repeat(2400)}`, 150), true)
})

test('counts like the segmenter on any text', () => {
  const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' })
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.integer({ min: 1, max: 40 }), (text, max) => {
      assert.equal(isLongerThan(text, max), [...segmenter.segment(text)].length > max)
    })
  )
})

for (const text of [
  '<p>Soft</p>',
  'Soft<br>warm',
  'Soft<BR/>',
  'a <b>bold</b> claim',
  '<a href="https://x.example">here</a>',
  'x <!-- note -->',
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<div\nclass="x">',
  '</p>',
  '<!DOCTYPE html>',
  '<h1 >Sale</h1>',
  '<ul><li>One'
]) {
  test(`finds the HTML in ${JSON.stringify(text)}`, () => {
    const tag = findHtml(text)
    assert.ok(tag && text.includes(tag))
  })
}

for (const text of [
  'a < b',
  'a<b and c>d',
  'x <y and y> z',
  'I <3 it',
  '5 < 6 > 4',
  '<- left',
  '<<quoted>>',
  '<Brand> jacket',
  'size <= 5',
  '<',
  'a <',
  '<p',
  '<b',
  'Tom & Jerry',
  '<e.g. this>'
]) {
  test(`finds no HTML in ${JSON.stringify(text)}`, () => assert.equal(findHtml(text), undefined))
}

test('looks for HTML in time that grows with the text only', () => {
  const started = performance.now()
  for (const text of [
    '<'.repeat(80_000),
    '<a '.repeat(30_000),
    '<a x=y '.repeat(10_000),
    `<a ${'='.repeat(80_000)}`,
    '<b '.padEnd(80_000)
  ])
    findHtml(text)
  assert.ok(performance.now() - started < 1000)
})

test('notices HTML entities, which plain text would show as they are written', () => {
  assert.equal(findHtmlEntity('Tom &amp; Jerry'), '&amp;')
  assert.equal(findHtmlEntity('10&nbsp;cm'), '&nbsp;')
  assert.equal(findHtmlEntity('caf&eacute;'), '&eacute;')
  assert.equal(findHtmlEntity('5&#8217; tall'), '&#8217;')
  for (const text of ['Tom & Jerry', 'A&B; C', 'R&D', '&;', 'a & b;'])
    assert.equal(findHtmlEntity(text), undefined, text)
})

test('recognises hex colours and leaves words alone', () => {
  for (const text of ['#fff', '#FFAA00', '#ffaa00cc', 'Red/#F00', '0xFFAA00', '1A2B3C', '000000'])
    assert.ok(hasHexColor(text), text)
  for (const text of ['Red', 'facade', 'decade', 'Blue 2', 'No. 5', '#1 pick', 'RAL 9010', '#12', 'Shade #12345']) {
    assert.ok(!hasHexColor(text), text)
  }
})
