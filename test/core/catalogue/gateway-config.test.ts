import { describe, expect, it } from 'vitest'
import { gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import { shippedConfig } from '../shipped-catalogue.ts'

const read = (changes: object) => gatewayConfigSchema.parse({ ...shippedConfig, ...changes })

describe('gateway-config', () => {
  it('fills in the defaults', () => {
    const { channels, models } = shippedConfig
    expect(gatewayConfigSchema.parse({ channels, models })).toMatchObject({
      ...{ unit: 'credit', callback_allowlist: [], trusted_origins: [] },
      ...{ submit_wait_seconds: 10, answer_seconds: 290, queue_minutes: 60, max_video_bytes: 2_147_483_648 },
    })
  })

  it.each(['hooks.example.com', '*.partner.example', 'http://127.0.0.1:9400'])(
    'takes %s into the allowlist',
    (entry) => {
      expect(read({ callback_allowlist: [entry] }).callback_allowlist).toEqual([entry])
    },
  )

  it.each(['Hooks.example.com', 'localhost', '*', 'https://hooks.example/path', 'http://h:65536', 'hooks.example.'])(
    'refuses %s in the allowlist, and says what is allowed',
    (entry) => {
      expect(() => read({ callback_allowlist: [entry] })).toThrow('use a lower-case host (hooks.example.com)')
    },
  )

  it.each(['http://127.0.0.1:9400/', 'http://h:65536', 'ftp://h', 'h.example'])('refuses the origin %s', (entry) => {
    expect(() => read({ trusted_origins: [entry] })).toThrow('use an origin such as http://127.0.0.1:9400')
  })

  it('allows no origin of a browser unless told so', () => {
    expect(read({}).cors).toEqual({ origins: [] })
    expect(read({ cors: {} }).cors).toEqual({ origins: [] })
  })

  it.each([
    ['https://app.example.com'],
    ['http://localhost:5173'],
    ['https://app.example.com:8443'],
    ['http://[::1]:3000'],
    ['*'],
  ])('lets browsers call the API from %s', (origin) => {
    expect(read({ cors: { origins: [origin] } }).cors.origins).toEqual([origin])
  })

  it.each([
    'https://app.example.com/',
    'https://app.example.com/path',
    'https://app.example.com:443',
    'http://app.example.com:80',
    'https://App.example.com',
    'https://user@app.example.com',
    'https://*.example.com',
    'app.example.com',
    'null',
    '',
    'https://h:65536',
    'https://ä.example',
  ])('refuses %j as an origin of a browser, and says how to write one', (origin) => {
    expect(() => read({ cors: { origins: [origin] } })).toThrow('exactly as browsers send it')
  })

  it('refuses other origins beside the star, and more origins than functions can be told', () => {
    expect(() => read({ cors: { origins: ['*', 'https://a.example'] } })).toThrow('list it alone')
    const many = Array.from({ length: 21 }, (_, index) => `https://a${index}.example`)
    expect(() => read({ cors: { origins: many } })).toThrow()
    expect(() => read({ cors: { origin: [] } })).toThrow('allowed: origins')
  })

  it.each([
    { submit_wait_seconds: 26 },
    { answer_seconds: 291 },
    { queue_minutes: 0 },
    { max_video_bytes: 10_737_418_241 },
    { models: [] },
    { unit: 'dollar' },
    { no_such_key: 1 },
  ])('refuses %j', (changes) => {
    expect(() => read(changes)).toThrow()
  })
})
