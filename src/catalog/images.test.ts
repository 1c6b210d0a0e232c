import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type ImageInfo, imageInfo } from './images.ts'

const u16be = (n: number) => Buffer.of(n >> 8, n & 255)
const u16le = (n: number) => Buffer.of(n & 255, n >> 8)
const u32be = (n: number) => Buffer.concat([u16be(n >>> 16), u16be(n & 65535)])
const u24le = (n: number) => Buffer.of(n & 255, (n >> 8) & 255, n >> 16)

const png = (w: number, h: number) =>
  Buffer.concat([
    Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
    u32be(w),
    u32be(h),
    Buffer.from('0806000000', 'hex')
  ])
const gif = (w: number, h: number) => Buffer.concat([Buffer.from('GIF89a'), u16le(w), u16le(h), Buffer.alloc(20)])
const segment = (marker: number, body: Buffer) => Buffer.concat([Buffer.of(0xff, marker), u16be(body.length + 2), body])
const jpeg = (w: number, h: number, before: Buffer[] = [], frame = 0xc0) =>
  Buffer.concat([
    Buffer.of(0xff, 0xd8),
    segment(0xe0, Buffer.from('JFIF\0\x01\x02\0\0\x01\0\x01\0\0')),
    ...before,
    segment(frame, Buffer.concat([Buffer.of(8), u16be(h), u16be(w), Buffer.of(3, 1, 17, 0, 2, 17, 1, 3, 17, 1)]))
  ])
const riff = (chunk: string, body: Buffer) =>
  Buffer.concat([
    Buffer.from('RIFF\x10\0\0\0WEBP'),
    Buffer.from(chunk),
    Buffer.from('\x10\0\0\0'),
    body,
    Buffer.alloc(10)
  ])
const lossy = (w: number, h: number) =>
  riff('VP8 ', Buffer.concat([Buffer.from('3001009d012a', 'hex'), u16le(w), u16le(h)]))
const lossless = (w: number, h: number) => {
  const bits = Buffer.alloc(4)
  bits.writeUInt32LE(((w - 1) | ((h - 1) << 14)) >>> 0)
  return riff('VP8L', Buffer.concat([Buffer.of(0x2f), bits]))
}
const extended = (w: number, h: number) => riff('VP8X', Buffer.concat([Buffer.alloc(4), u24le(w - 1), u24le(h - 1)]))

const kinds: [name: string, type: ImageInfo['type'], make: (w: number, h: number) => Buffer, max: number][] = [
  ['PNG', 'png', png, 100_000],
  ['GIF', 'gif', gif, 65_535],
  ['JPEG', 'jpg', jpeg, 65_535],
  [
    'JPEG with metadata and a thumbnail',
    'jpg',
    (w, h) =>
      jpeg(w, h, [
        segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), jpeg(160, 120)])),
        segment(0xfe, Buffer.alloc(60_000)),
        segment(0xc4, Buffer.alloc(30))
      ]),
    65_535
  ],
  ['progressive JPEG with fill bytes', 'jpg', (w, h) => jpeg(w, h, [Buffer.of(0xff, 0xff)], 0xc2), 65_535],
  ['lossy WEBP', 'webp', lossy, 16_383],
  ['lossless WEBP', 'webp', lossless, 16_384],
  ['extended WEBP', 'webp', extended, 16_384]
]

for (const [name, type, make, max] of kinds) {
  test(`reads the size of any ${name}`, () => {
    const side = fc.integer({ min: 1, max })
    fc.assert(
      fc.property(side, side, (width, height) =>
        assert.deepEqual(imageInfo(make(width, height)), { type, width, height })
      )
    )
  })

  test(`asks for more of a ${name} until it knows, and then says the same`, () => {
    const whole = make(640, 480)
    const known = { type, width: 640, height: 480 }
    let answered = false
    for (
      let length = 0;
      length <= whole.length;
      length += whole.length > 1000 && length > 400 && length < whole.length - 100 ? 97 : 1
    ) {
      const verdict = imageInfo(whole.subarray(0, length))
      if (answered || verdict !== 'need more bytes') {
        assert.deepEqual(verdict, known, `${length} bytes`)
        answered = true
      }
    }
    assert.ok(answered)
  })
}

for (const [name, bytes] of [
  ['a web page', Buffer.from('<!DOCTYPE html><html>')],
  ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['BMP', Buffer.from('BM\x36\0\0\0')],
  ['AVIF', Buffer.from('\0\0\0\x1cftypavif')],
  ['a WAV file', Buffer.from('RIFF\x10\0\0\0WAVEfmt \x10\0\0\0')],
  ['a JPEG without a frame', Buffer.from('ffd8ffda0008010100003f00', 'hex')],
  ['a broken JPEG', Buffer.from('ffd8ffe00004000012345678', 'hex')],
  ['a JPEG segment without length', Buffer.from('ffd8ffe00000', 'hex')],
  ['a PNG of no width', png(0, 10)],
  ['a PNG without header chunk', Buffer.from('89504e470d0a1a0a0000000d4944415400000001000000010806', 'hex')],
  ['a GIF of an unknown version', Buffer.from('GIF88a\0\0\0\0')],
  ['text', Buffer.from('x')]
] as const) {
  test(`knows that ${name} is no image`, () => assert.equal(imageInfo(bytes), 'not an image'))
}

test('answers for any bytes whatever', () => {
  const start = fc.constantFrom(...kinds.map(([, , make]) => make(640, 480).subarray(0, 24)), Buffer.alloc(0))
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 60 }), (head, tail) => {
      const verdict = imageInfo(Buffer.concat([head, tail]))
      assert.ok(typeof verdict === 'string' || (verdict.width > 0 && verdict.height > 0))
    })
  )
})

test('reads images that real encoders wrote', () => {
  const encoded: [type: ImageInfo['type'], base64: string][] = [
    ['gif', 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'],
    ['png', 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='],
    ['webp', 'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA'],
    ['webp', 'UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=='],
    [
      'webp',
      'UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDggGAAAABQBAJ0BKgEAAQAAAP4AAA3AAP7mtQAAAA=='
    ]
  ]
  for (const [type, base64] of encoded) {
    assert.deepEqual(imageInfo(Buffer.from(base64, 'base64')), { type, width: 1, height: 1 })
  }
})
