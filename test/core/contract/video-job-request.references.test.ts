import { describe, expect, it } from 'vitest'
import { parseVideoJobRequest } from '#core/contract/video-job-request.ts'
import { urls } from '../interface-tables.ts'
import { issuesOf, shippedCatalogue } from '../shipped-catalogue.ts'

function parse(members: object, model = 'famA-2') {
  const context = { catalogue: shippedCatalogue, allowedModels: null }
  return parseVideoJobRequest({ model, prompt: 'a paper city', ...members }, context)
}

const LINK_MESSAGE = 'each reference must be an http or https url of at most 8192 characters'
const IMAGE_MESSAGE =
  'each reference image must be an http or https url of at most 8192 characters, or data:image/...;base64'

describe('references', () => {
  it.each([
    'https://media.example.com/a.png?x=1#y',
    'http://media.example.com/a.png',
    'HTTPS://MEDIA.EXAMPLE.COM/A.PNG',
    'http://127.0.0.1:9400/a.png',
    'https://media.example.com/bild-ü.png',
  ])('%s is a link for every kind', (link) => {
    const references = { image_urls: [link], video_urls: [link], audio_urls: [link] }
    expect(parse(references)).toMatchObject(references)
  })

  it.each(['data:image/png;base64,iVBORw0KGgo=', 'data:image/svg+xml;base64,AAAA', 'DATA:IMAGE/PNG;BASE64,AAAA'])(
    '%s is an image, and no video or audio',
    (url) => {
      expect(parse({ image_urls: [url] }).image_urls).toStrictEqual([url])
      expect(issuesOf(() => parse({ video_urls: [url] }))).toStrictEqual([
        { path: 'video_urls.0', message: LINK_MESSAGE },
      ])
      expect(issuesOf(() => parse({ image_urls: urls(1), audio_urls: [url] }))).toStrictEqual([
        { path: 'audio_urls.0', message: LINK_MESSAGE },
      ])
    },
  )

  it('take an image of three megabytes', () => {
    const url = `data:image/png;base64,${'A'.repeat(3_000_000)}`
    expect(parse({ image_urls: [url] }).image_urls).toStrictEqual([url])
  })

  it.each([
    '',
    'media.example.com/a.png',
    '//media.example.com/a.png',
    'ftp://media.example.com/a.png',
    'file:///etc/passwd',
    'https://',
    'https://media.example.com/a b.png',
    ' https://media.example.com/a.png',
    'https://media.example.com/\ud800',
    `https://media.example.com/${'a'.repeat(8192)}`,
    'data:video/mp4;base64,AAAA',
    'data:image/png,AAAA',
    'data:image/png;base64,',
    'data:image/png;base64,A A',
    'data:image/png;base64,AAAA\n',
    null,
    5,
  ])('refuse %j', (url) => {
    expect(issuesOf(() => parse({ image_urls: [url] }))).toStrictEqual([
      { path: 'image_urls.0', message: IMAGE_MESSAGE },
    ])
  })

  it.each(['image_urls', 'video_urls', 'audio_urls'])('%s must be a list', (path) => {
    for (const value of [null, 'https://media.example.com/a', { 0: 'https://media.example.com/a' }]) {
      expect(issuesOf(() => parse({ [path]: value }))).toStrictEqual([
        { path, message: `\`${path}\` must be an array of urls` },
      ])
    }
  })

  it.each(['image_urls', 'video_urls', 'audio_urls'])('%s answers a million wrong entries with one issue', (path) => {
    const message = `\`${path}\` must hold at most 16 urls`
    expect(issuesOf(() => parse({ [path]: new Array(1_000_000).fill(1) }))).toStrictEqual([{ path, message }])
  })
})

describe('image_url', () => {
  const [legacy = '', other = ''] = urls(2)

  it.each([{}, { image_urls: [] }])('becomes image_urls[0] beside %j', (members) => {
    const request = parse({ ...members, image_url: legacy }, 'famB-1.1-i2v')
    expect(request.image_urls).toStrictEqual([legacy])
    expect(request).not.toHaveProperty('image_url')
  })

  it.each([legacy, 'nonsense', 5, null, ''])('%j is ignored when image_urls holds one', (image_url) => {
    expect(parse({ image_url, image_urls: [other] }, 'famB-1.1-i2v').image_urls).toStrictEqual([other])
  })

  it('is no image when it is empty', () => {
    expect(parse({ image_url: '' }).image_urls).toStrictEqual([])
  })

  it('counts for the model like any other image', () => {
    expect(issuesOf(() => parse({ image_url: legacy }, 'famB-1.1-t2v'))).toStrictEqual([
      { path: 'image_urls', message: '`image_urls` must be left out for famB-1.1-t2v' },
    ])
  })

  it.each(['nonsense', 5, null])('%j is refused when it counts', (image_url) => {
    expect(issuesOf(() => parse({ image_url }))).toStrictEqual([
      { path: 'image_url', message: '`image_url` must be an http or https url, or data:image/...;base64' },
    ])
  })
})

describe('callback_url', () => {
  it.each(['https://hooks.example.com/cb', 'https://a.partner.example/'])('%s is kept as it came', (callback_url) => {
    expect(parse({ callback_url }).callback_url).toBe(callback_url)
  })

  it.each([
    [
      'https://elsewhere.example.com/cb',
      '`callback_url` must have a host on the allowlist of the gateway: ask its operator to add the host',
    ],
    ['http://hooks.example.com/cb', expect.stringMatching(/^`callback_url` must be an https url/)],
    ['', expect.stringMatching(/^`callback_url` /)],
    [5, '`callback_url` must be a string: an https url'],
    [null, '`callback_url` must be a string: an https url'],
  ])('%j is refused', (callback_url, message) => {
    expect(issuesOf(() => parse({ callback_url }))).toStrictEqual([{ path: 'callback_url', message }])
  })
})
