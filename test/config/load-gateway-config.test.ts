// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is what an operator writes.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import * as z from 'zod'
import { credentialName } from '#core/catalogue/catalogue.ts'
import { imageModelIssues } from '#core/catalogue/gateway-config.ts'
import { findVideoPrice } from '#core/catalogue/price-rows.ts'
import { parseCredits } from '#core/money.ts'
import { upstreamVariables } from '../../lib/cli/serve-simulators.ts'
import { configJsonSchema, GatewayConfigError, loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'
import { MODEL_ROWS } from '../core/interface-tables.ts'
import { SHIPPED_FILE, shippedCatalogue, shippedConfig, shippedModel } from '../core/shipped-catalogue.ts'
import { changed, folder, lineOf, load, type Mode, problemsOf, type Setting, sample, shipped } from './edited-config.ts'

describe('a valid configuration', () => {
  it('is what is shipped', () => {
    expect(load(shipped).warnings).toStrictEqual([])
  })

  it('is shipped with every upstream simulated until a variable of its own says otherwise', () => {
    const variables = upstreamVariables(SHIPPED_FILE)
    expect([...variables.keys()]).toStrictEqual(load(shipped).config.channels.map(({ id }) => id))
    expect(new Set(variables.values()).size).toBe(variables.size)
    expect(load(shipped, { mode: 'synth' }).config.channels).toStrictEqual([])
  })

  it.each([
    ['https://api.example.test', true],
    ['https://api.example.test/openai', true],
    ['https://api.example.test/dev1', true],
    ['https://api.example.test/v1', false],
    ['https://api.example.test/openai/v1/', false],
    ['https://api.example.test/v1beta/openai', false],
  ])(
    'with an OpenAI-style upstream at %s is warned of, unless the url has a version: %s',
    (RELAY_BASE_URL, isWarned) => {
      for (const mode of ['local', 'synth'] as const) {
        const { warnings } = load(shipped, { mode, environment: { RELAY_BASE_URL, RELAY_API_KEY: 'key' } })
        const told = warnings.filter((warning) => warning.startsWith('channel openai-main has a base_url without /v1'))
        expect([mode, told.length]).toEqual([mode, isWarned ? 1 : 0])
      }
    },
  )

  it('may be JSON', () => {
    expect(load(JSON.stringify(parse(shipped))).config).toStrictEqual(load(shipped).config)
  })

  it('may use aliases of YAML', () => {
    const hosts = `callback_allowlist:
  - hooks.example.com
  - "*.partner.example"
`
    const text = changed(hosts, 'callback_allowlist: &hosts ["http://127.0.0.1:9400"]\n')
    const { config } = load(text.replace('trusted_origins: []', 'trusted_origins: *hosts'))
    expect(config.trusted_origins).toStrictEqual(['http://127.0.0.1:9400'])
  })

  it('may merge a row of YAML into another', () => {
    const model = 'kind: chat, billing: per_request, context_tokens: 1, max_output_tokens: 1, prices: [{ price: "1" }]'
    const { config } = load(`channels: []\nmodels: [&one { id: one, ${model} }, { <<: *one, id: two }]`)
    expect(config.models.filter(({ id }) => id === 'two')).toMatchObject([{ kind: 'chat', context_tokens: 1 }])
  })

  it('has its defaults filled in', () => {
    const { config, warnings } = load(
      'channels: []\nmodels: [{ id: m, kind: chat, billing: per_request, context_tokens: 1, max_output_tokens: 1, prices: [{ price: "1" }] }]',
    )
    expect(config).toMatchObject({
      unit: 'credit',
      callback_allowlist: [],
      trusted_origins: [],
      submit_wait_seconds: 10,
      answer_seconds: 290,
      queue_minutes: 60,
      max_video_bytes: 2_147_483_648,
    })
    expect(warnings).toStrictEqual([expect.stringMatching(/^channels is empty; write a channel, as in /)])
  })
})

describe('variables', () => {
  const channel = (text: string, setting?: Setting) => load(text, setting).config.channels[0]

  it('are filled in from the environment, else from their default', () => {
    expect(channel(sample)?.base_url).toBe('simulator')
    const environment = { P1_BASE_URL: 'https://p1.example.test/' }
    expect(channel(sample, { environment })?.base_url).toBe('https://p1.example.test')
    expect(channel(sample, { environment: { P1_BASE_URL: '' } })?.base_url).toBe('simulator')
  })

  it('may stand inside a text, more than once', () => {
    const text = changed('${P1_BASE_URL:-simulator}', 'https://${ZONE:-a}.${DOMAIN}/x')
    expect(channel(text, { environment: { DOMAIN: 'example.test' } })?.base_url).toBe('https://a.example.test/x')
  })

  it('are values, never again templates', () => {
    const text = changed('base_url: ${P1_BASE_URL:-simulator}', 'base_url: https://p1.example.test/${PART}')
    const environment = { PART: '${P1_API_KEY}', P1_API_KEY: 'sk-secret' }
    expect(channel(text, { environment })?.base_url).toBe('https://p1.example.test/${P1_API_KEY}')
  })

  it('of api_key keep their name, so that no key enters the configuration', () => {
    const environment = { P1_API_KEY: 'sk-secret' }
    expect(channel(sample, { environment })?.api_key).toBe('${P1_API_KEY}')
    expect(JSON.stringify(load(sample, { environment }))).not.toContain('sk-secret')
  })

  it.each<Mode>(['local', 'synth'])('that are not set are told once, at their place (%s)', (mode) => {
    const text = changed('${P1_BASE_URL:-simulator}', '${P1_BASE_URL}')
    const line = lineOf(text, '${P1_BASE_URL}')
    expect(problemsOf(text, { mode })).toStrictEqual([
      `${line} channels[0].base_url: \${P1_BASE_URL} is used but P1_BASE_URL is not set; set it or write \${P1_BASE_URL:-default}`,
    ])
  })
})

describe('a file that cannot be read', () => {
  it.each([
    ['a syntax error', `${sample}\nx: {`, /gateway\.yaml:\d+ not valid YAML: /],
    ['a repeated key', 'unit: credit\nunit: credit\n', /gateway\.yaml:2 not valid YAML: Map keys must be unique/],
    ['an alias without its anchor', 'unit: *nothing\n', /gateway\.yaml: not valid YAML: Unresolved alias/],
    ['two documents', 'unit: credit\n---\nunit: credit\n', /gateway\.yaml:2 not valid YAML: /],
  ])('because of %s is refused with its name', (_, text, message) => {
    expect(() => load(text)).toThrow(message)
    expect(() => load(text)).toThrow(GatewayConfigError)
  })

  it('because it is missing is named', () => {
    const file = join(folder, 'nothing.yaml')
    const attempt = () => loadGatewayConfig({ file, environment: {}, mode: 'local' })
    expect(attempt).toThrow(GatewayConfigError)
    expect(attempt).toThrow(`cannot read the configuration file ${file}`)
  })
})

describe('at synth', () => {
  it('simulated channels are left out, each with a warning', () => {
    const { config, warnings } = load(sample, {
      mode: 'synth',
      environment: { P1_BASE_URL: 'https://p1.example.test', P1_ASYNC_HEADER: 'X-Async' },
    })
    expect(config.channels.map(({ id }) => id)).toStrictEqual(['p1-main'])
    expect(warnings).toStrictEqual(
      ['p2-direct', 'p2-proxy', 'openai-main'].map(
        (id) => `channel ${id} has no upstream (base_url is simulator) and is left out`,
      ),
    )
  })

  it('simulated channels are still checked', () => {
    expect(problemsOf(changed('route: direct', 'route: x'), { mode: 'synth' })).toHaveLength(1)
  })
})

const withoutLines = (text: string) => problemsOf(text).map((line) => line.replace(/^\d+ /, ''))
const { config } = load(sample)
const indexOf = (id: string) => config.models.findIndex((model) => model.id === id)

describe('prices of images', () => {
  it('that are shipped have no gap', () => {
    const images = shippedConfig.models.filter((model) => model.kind === 'image')
    expect(images).not.toHaveLength(0)
    expect(images.flatMap(imageModelIssues)).toStrictEqual([])
  })

  it('name every cell that has none', () => {
    const text = changed('      - { quality: hd, price: "0.12" }\n', '')
    const at = `models[${indexOf('image-v3')}].prices`
    expect(withoutLines(text)).toStrictEqual([
      `${at}: no price for size 1792x1024, quality hd`,
      `${at}: no price for size 1024x1792, quality hd`,
    ])
  })

  it('of a model without qualities need no quality', () => {
    const text = changed('      - { size: 512x512, price: "0.018" }\n', '')
    expect(withoutLines(text)).toStrictEqual([`models[${indexOf('image-v2')}].prices: no price for size 512x512`])
  })

  it('for a size or a quality that the model has not are told', () => {
    const text = changed(
      '- { size: 1024x1024, quality: hd, price: "0.08" }',
      '- { size: 1024x1025, quality: high, price: "0.08" }',
    )
    const at = `models[${indexOf('image-v3')}].prices[1]`
    expect(withoutLines(text)).toStrictEqual([
      `${at}.size: not allowed; did you mean 1024x1024? allowed: any, 1024x1024, 1792x1024, 1024x1792`,
      `${at}.quality: not allowed; allowed: any, standard, hd`,
    ])
  })
})

describe('prices of tokens', () => {
  it.each([
    ['text-embedding-3-small', 'prices: [{ input_per_million: "0.02" }]', 'prices: [{ price: "0.02" }]'],
    ['chat-default', 'billing: token\n    context_tokens', 'billing: per_request\n    context_tokens'],
  ])('of %s say the same as its billing', (id, passage, replacement) => {
    const wanted =
      id === 'chat-default' ? 'billing per_request needs one price' : 'billing token needs prices per million'
    expect(withoutLines(changed(passage, replacement))).toStrictEqual([`models[${indexOf(id)}].prices[0]: ${wanted}`])
  })
})

describe.each(MODEL_ROWS)('config/gateway.yaml: the model $id', (row) => {
  const model = shippedModel(row.id)

  it('has the limits of docs/api.md', () => {
    const [imagesMin, imagesMax] = row.images
    const [videosMin, videosMax] = row.videos
    const [audiosMin, audiosMax] = row.audios
    expect(model).toMatchObject({
      kind: 'video',
      enabled: true,
      durations: { min: 3, max: row.maxSeconds },
      resolutions: row.resolutions,
      default_resolution: '720P',
      audio: { supported: row.audioDefault, default: row.audioDefault },
      images: { min: imagesMin, max: imagesMax },
      videos: { min: videosMin, max: videosMax },
      audios: { min: audiosMin, max: audiosMax },
      output_follows_input: row.id.endsWith('video-edit'),
      prompt_flags: row.id.startsWith('famA-1'),
      billing: row.id.startsWith('famA') ? 'token' : 'per_second',
    })
  })

  it('has a price above zero for every combination of resolution, audio and video input', () => {
    const inputs = row.videos[1] === 0 ? [false] : row.videos[0] === 0 ? [false, true] : [true]
    for (const resolution of row.resolutions) {
      for (const audio of [true, false]) {
        for (const videoInput of inputs) {
          const price = findVideoPrice(model.prices, { resolution, audio, videoInput })
          expect(parseCredits(price?.price ?? 'no price')).toBeGreaterThan(0n)
        }
      }
    }
  })

  it('is served by a channel, and by a direct one where it takes reference audio or video', () => {
    expect(shippedCatalogue.videoChannels(row.id, { directOnly: false })).not.toHaveLength(0)
    const direct = shippedCatalogue.videoChannels(row.id, { directOnly: true })
    expect(direct.every((channel) => !('route' in channel) || channel.route === 'direct')).toBe(true)
    expect(direct).not.toHaveLength(0)
  })
})

describe('config/gateway.yaml', () => {
  it('holds no credential, only names', () => {
    for (const channel of shippedConfig.channels) {
      expect(channel.api_key).toMatch(/^\$\{[A-Z0-9_]+\}$/)
      expect(credentialName(channel)).toBe(channel.api_key.slice(2, -1))
    }
  })

  it('covers the chat, embedding and image models of docs/api.md', () => {
    const others = shippedConfig.models.filter((model) => model.kind !== 'video').map((model) => model.id)
    expect(others).toEqual(
      expect.arrayContaining([
        'text-embedding-3-small',
        'text-embedding-3-large',
        'text-embedding-ada-002',
        'image-v3',
        'image-v2',
      ]),
    )
  })
})

describe('configJsonSchema', () => {
  const shipped: unknown = parse(readFileSync(SHIPPED_FILE, 'utf8'))

  function accepts(value: unknown): boolean {
    return z.fromJSONSchema(JSON.parse(configJsonSchema())).safeParse(value).success
  }

  it('accepts the shipped file as an editor sees it, variables not filled in', () => {
    expect(accepts(shipped)).toBe(true)
  })

  it('refuses what the gateway refuses', () => {
    expect(accepts({ ...Object(shipped), queue_minute: 60 })).toBe(false)
    expect(accepts({ ...Object(shipped), models: [] })).toBe(false)
    expect(accepts({ ...Object(shipped), submit_wait_seconds: '10' })).toBe(false)
  })

  it('accepts a variable wherever a text has a pattern, but not as part of a key', () => {
    expect(accepts({ ...Object(shipped), trusted_origins: ['${ORIGIN:-http://127.0.0.1:9400}'] })).toBe(true)
    const [channel] = Object(shipped).channels
    expect(accepts({ ...Object(shipped), channels: [{ ...channel, api_key: 'sk-${P1_API_KEY}' }] })).toBe(false)
  })
})
