import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { explainImageLink, explainLink, otherImageFormat } from './links.ts'

for (const url of [
  'https://shop.example/p/1',
  'https://shop.example',
  'https://shop.example/p/1?color=red&size=%20L#top',
  'https://shop.example:8443/p',
  'HTTPS://Shop.Example/P',
  'https://schuhe.müller.example/größe/日本',
  'https://xn--mller-kva.example/p',
  'https://127.0.0.1/p',
  'https://localhost/p',
  `https://shop.example/${'a'.repeat(2027)}`
]) {
  test(`accepts the product page ${url.slice(0, 60)}`, () => assert.equal(explainLink(url), undefined))
}

const refused: [url: string, code: string][] = [
  ['http://shop.example/p', 'NOT_HTTPS'],
  ['ftp://shop.example/p', 'INVALID_URL'],
  ['javascript:alert(1)', 'INVALID_URL'],
  ['https:shop.example/p', 'INVALID_URL'],
  ['https:/shop.example/p', 'INVALID_URL'],
  ['//shop.example/p', 'INVALID_URL'],
  ['www.shop.example', 'INVALID_URL'],
  ['shop.example/p', 'INVALID_URL'],
  ['https://', 'INVALID_URL'],
  ['https:///p', 'INVALID_URL'],
  ['https://shop.example/a b', 'INVALID_URL'],
  ['https://shop.example/a\nb', 'INVALID_URL'],
  ['https://shop.example/\u0000', 'INVALID_URL'],
  ['https://exa mple/', 'INVALID_URL'],
  ['https://a<b.example/', 'INVALID_URL'],
  ['https://1.2.3.256/', 'INVALID_URL'],
  [`https://shop.example/${'a'.repeat(2028)}`, 'TOO_LONG']
]

for (const [url, code] of refused) {
  test(`refuses the product page ${JSON.stringify(url.slice(0, 60))} with ${code}`, () =>
    assert.equal(explainLink(url)?.code, code))
}

test('lets images come over http', () => {
  assert.equal(explainImageLink('http://shop.example/i.jpg'), undefined)
  assert.equal(explainImageLink('ftp://shop.example/i.jpg')?.code, 'INVALID_URL')
})

test('never lets the quick check pass what the URL standard refuses', () => {
  const piece = fc.constantFrom(
    'a',
    'shop',
    'xn--',
    '-',
    '.',
    '..',
    '0x7f',
    '1',
    '255',
    ':',
    '/',
    '?',
    '#',
    '%zz',
    '[',
    ']',
    '@',
    'com',
    ' '
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
      const url = `https://${pieces.join('')}`
      const canParse = URL.canParse(url) && !/\s/.test(url)
      assert.equal(explainLink(url) === undefined, canParse && !/^https:\/\/[/\\]/.test(url), url)
    }),
    { numRuns: 2000 }
  )
})

test('recognises formats that are no JPG, GIF, WEBP or PNG by their ending', () => {
  assert.equal(otherImageFormat('https://shop.example/i.SVG'), 'svg')
  assert.equal(otherImageFormat('https://shop.example/i.tiff'), 'tiff')
  for (const fine of ['i.jpg', 'i.jpeg', 'i.png', 'i.webp', 'i.gif', 'i', 'i.php', 'svg']) {
    assert.equal(otherImageFormat(`https://shop.example/${fine}`), undefined, fine)
  }
})
