import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { GatewayConfigError, loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'
import { SHIPPED_FILE } from '../core/shipped-catalogue.ts'

const folder = mkdtempSync(join(tmpdir(), 'gateway-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const FILE = join(folder, 'gateway.yaml')
const shipped = readFileSync(SHIPPED_FILE, 'utf8')

type Mode = 'local' | 'synth'
type Setting = { environment?: Record<string, string>; mode?: Mode }

function load(text: string, { environment = {}, mode = 'local' }: Setting = {}) {
  writeFileSync(FILE, text)
  return loadGatewayConfig({ file: FILE, environment, mode })
}

/** The shipped file with one passage changed. */
function changed(passage: string, replacement: string): string {
  if (!shipped.includes(passage)) {
    throw new Error(`the shipped file does not hold ${passage}`)
  }
  return shipped.replace(passage, () => replacement)
}

/** One-based, of the first line that holds a passage. */
function lineOf(text: string, passage: string): number {
  return text.slice(0, text.indexOf(passage)).split('\n').length
}

/** The problems, one a line, without the name of the file. */
function problemsOf(text: string, setting: Setting = {}): string[] {
  try {
    load(text, setting)
  } catch (error) {
    if (error instanceof GatewayConfigError) {
      const [, ...lines] = error.message.split('\n')
      expect(lines.every((line) => line.startsWith(`  ${FILE}:`))).toBe(true)
      return lines.map((line) => line.slice(`  ${FILE}:`.length))
    }
    throw error
  }
  return []
}

describe('a valid configuration', () => {
  it('is what is shipped', () => {
    expect(load(shipped).warnings).toStrictEqual([])
  })

  it('may be JSON', () => {
    expect(load(JSON.stringify(parse(shipped))).config).toStrictEqual(load(shipped).config)
  })

  it('may use aliases of YAML', () => {
    const text = changed('trusted_origins: []', 'trusted_origins: &origins ["http://127.0.0.1:9400"]')
    expect(load(text.replace(/callback_allowlist:\n(.*\n){2}/, 'callback_allowlist: *origins\n')).config).toMatchObject(
      { callback_allowlist: ['http://127.0.0.1:9400'], trusted_origins: ['http://127.0.0.1:9400'] },
    )
  })

  it('has its defaults filled in', () => {
    const { config } = load(
      'channels: []\nmodels: [{ id: m, kind: chat, billing: per_request, context_tokens: 1, max_output_tokens: 1, prices: [{ price: "1" }] }]',
    )
    expect(config).toMatchObject({
      unit: 'credit',
      callback_allowlist: [],
      trusted_origins: [],
      submit_wait_seconds: 10,
      queue_minutes: 60,
      max_video_bytes: 2_147_483_648,
    })
  })
})

describe('variables', () => {
  const channel = (text: string, setting?: Setting) => load(text, setting).config.channels[0]

  it('are filled in from the environment, else from their default', () => {
    expect(channel(shipped)?.base_url).toBe('simulator')
    const environment = { P1_BASE_URL: 'https://p1.example.test/' }
    expect(channel(shipped, { environment })?.base_url).toBe('https://p1.example.test')
    expect(channel(shipped, { environment: { P1_BASE_URL: '' } })?.base_url).toBe('simulator')
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
    expect(channel(shipped, { environment })?.api_key).toBe('${P1_API_KEY}')
    expect(JSON.stringify(load(shipped, { environment }))).not.toContain('sk-secret')
  })

  it.each<Mode>(['local', 'synth'])('that are not set are told once, at their place (%s)', (mode) => {
    const text = changed('${P1_BASE_URL:-simulator}', '${P1_BASE_URL}')
    const line = lineOf(text, '${P1_BASE_URL}')
    expect(problemsOf(text, { mode })).toStrictEqual([
      `${line} channels[0].base_url: \${P1_BASE_URL} is used but P1_BASE_URL is not set; set it or write \${P1_BASE_URL:-default}`,
    ])
  })
})

describe('a problem', () => {
  it.each([
    [
      'an unknown key',
      'queue_minutes: 60',
      'queue_minute: 60',
      'queue_minute: unknown key "queue_minute"; allowed: $schema, unit, callback_allowlist,',
    ],
    [
      'an unknown key inside a row',
      'max_open_jobs: 100',
      'max_open_job: 100',
      'channels[0].max_open_job: unknown key "max_open_job"; allowed: id, base_url,',
    ],
    [
      'a wrong word',
      'route: direct',
      'route: directly',
      'channels[1].route: not allowed; allowed: direct, international, proxy',
    ],
    ['a wrong provider', 'provider: p1', 'provider: p9', 'channels[0].provider: not allowed; allowed: p1, p2, openai'],
    [
      'a wrong kind',
      'kind: chat',
      'kind: chatty',
      'models[14].kind: not allowed; allowed: video, chat, embedding, image',
    ],
    ['a wrong unit', 'unit: credit', 'unit: euro', 'unit: not allowed; allowed: credit'],
    [
      'a wrong tier',
      'video_input: true, price: "4.30"',
      'video_input: maybe, price: "4.30"',
      'models[0].prices[2].video_input: not allowed; allowed: true, false, any',
    ],
    [
      'a price that is a number',
      'price: "1.80"',
      'price: 1.80',
      'models[5].prices[0].price: write the price as a decimal string in credits, such as "0.14"',
    ],
    [
      'a price of seven places',
      'price: "1.80"',
      'price: "1.8000001"',
      'models[5].prices[0].price: write a decimal string in credits with at most six places, such as "0.14"',
    ],
    [
      'a negative price',
      'price: "1.80"',
      'price: "-1.80"',
      'models[5].prices[0].price: write a decimal string in credits with at most six places, such as "0.14"',
    ],
    [
      'an absurd price',
      'price: "1.80"',
      'price: "1000000000.1"',
      'models[5].prices[0].price: write a decimal string in credits with at most six places, such as "0.14"',
    ],
    [
      'a number out of range',
      'deadline_minutes: 60',
      'deadline_minutes: 361',
      'channels[0].deadline_minutes: must be at most 360',
    ],
    [
      'a number below its range',
      'max_open_jobs: 100',
      'max_open_jobs: 0',
      'channels[0].max_open_jobs: must be at least 1',
    ],
    ['a broken number', 'max_open_jobs: 100', 'max_open_jobs: 1.5', 'channels[0].max_open_jobs: write a whole number'],
    ['a text for a number', 'max_open_jobs: 100', 'max_open_jobs: "100"', 'channels[0].max_open_jobs: write a number'],
    [
      'a key in place of its name',
      'api_key: ${P1_API_KEY}',
      'api_key: sk-live-1',
      'channels[0].api_key: write ${NAME}: the environment variable locally, the entry of the channel secret on AWS',
    ],
    [
      'an upstream that is no url',
      'base_url: ${P1_BASE_URL:-simulator}',
      'base_url: p1.example.test',
      'channels[0].base_url: use an http(s) url without query, or the word simulator',
    ],
    [
      'a callback host with a port',
      'hooks.example.com\n',
      'hooks.example.com:8443\n',
      'callback_allowlist[0]: use a lower-case host (hooks.example.com), a suffix (*.partner.example) or an origin (http://127.0.0.1:9400)',
    ],
    [
      'a trusted origin with a path',
      'trusted_origins: []',
      'trusted_origins: ["http://127.0.0.1:9400/"]',
      'trusted_origins[0]: use an origin such as http://127.0.0.1:9400, without path or final slash',
    ],
    [
      'a duplicate id of a channel',
      'id: p2-direct',
      'id: p1-main',
      'channels[1].id: "p1-main" is used twice; every id is unique',
    ],
    [
      'a channel with an unknown model',
      'famA-1-pro: famA-1-pro',
      'famA-1-max: famA-1-max',
      'channels[1].models.famA-1-max: no model "famA-1-max" in models; allowed: famA-2-0-260128, famA-2,',
    ],
    [
      'a model of a kind that the channel cannot serve',
      'famA-1-pro: famA-1-pro',
      'chat-default: chat',
      'channels[1].models.chat-default: a p2 channel cannot serve a model of kind chat',
    ],
    [
      'a default that is not offered',
      'resolutions: [480P, 720P]\n    default_resolution: 720P',
      'resolutions: [480P, 720P]\n    default_resolution: 1080P',
      'models[5].default_resolution: 1080P is not in resolutions; allowed: 480P, 720P',
    ],
    [
      'an input video without a longest length',
      'input_video_seconds_max: 60',
      'input_video_seconds_max: 0',
      'models[13].input_video_seconds_max: a model that takes a reference video needs its longest length, or the estimate is no upper bound',
    ],
    [
      'durations the wrong way round',
      'durations: { min: 3, max: 10 }',
      'durations: { min: 10, max: 3 }',
      'models[5].durations: min is above max',
    ],
    [
      'counts the wrong way round',
      'images: { min: 0, max: 1 }',
      'images: { min: 1, max: 0 }',
      'models[5].images: min is above max',
    ],
    [
      'half of a pair of upstream models',
      '{ text: famA-1-lite-t2v, image: famA-1-lite-i2v }',
      '{ text: famA-1-lite-t2v }',
      'channels[1].models.famA-1-lite.image: is missing; write text',
    ],
    [
      'a poll path without its id',
      'poll: "/v1/video/generations/{id}"',
      'poll: "/v1/video/generations"',
      'channels[3].paths.poll: the path needs {id}, where the task id goes',
    ],
  ])('with %s says where, what and what is allowed', (_, passage, replacement, expected) => {
    const text = changed(passage, replacement)
    const [first = '', ...others] = problemsOf(text)
    expect(others).toStrictEqual([])
    const [line, ...said] = first.split(' ')
    expect(said.join(' ')).toContain(expected)
    const changedLines = [lineOf(text, replacement), lineOf(text, replacement) + replacement.split('\n').length - 1]
    expect(changedLines).toContain(Number(line))
  })

  it('of missing prices names every cell', () => {
    const text = changed('- { price: "1.80" }', '- { resolution: 480P, audio: false, price: "1.80" }')
    expect(problemsOf(text).map((line) => line.replace(/^\d+ /, ''))).toStrictEqual([
      'models[5].prices: no price for resolution 480P, audio true, video_input false',
      'models[5].prices: no price for resolution 720P, audio true, video_input false',
      'models[5].prices: no price for resolution 720P, audio false, video_input false',
    ])
  })

  it('of a missing key stands at the row that lacks it', () => {
    const text = changed('    async_header: ${P1_ASYNC_HEADER:-X-Provider-Async}\n', '')
    expect(problemsOf(text)).toStrictEqual([
      `${lineOf(text, 'id: p1-main')} channels[0].async_header: is missing; write text`,
    ])
  })

  it('does not hide the next one', () => {
    const text = changed('max_open_jobs: 100', 'max_open_jobs: 0').replace('route: direct', 'route: x')
    expect(problemsOf(text)).toHaveLength(2)
  })

  it('in a JSON file has a place too', () => {
    const text = JSON.stringify(parse(shipped), null, 2).replace('"unit": "credit"', '"unit": "euro"')
    expect(problemsOf(text)).toStrictEqual(['2 unit: not allowed; allowed: credit'])
  })

  it.each(['', '[1]', 'text', '5'])('of the whole file %j is told as such', (text) => {
    expect(problemsOf(text)).toStrictEqual(['1 (file): write a block of keys'])
  })
})

describe('a file that cannot be read', () => {
  it.each([
    ['a syntax error', `${shipped}\nx: {`, /gateway\.yaml:\d+ not valid YAML: /],
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
    const { config, warnings } = load(shipped, {
      mode: 'synth',
      environment: { P1_BASE_URL: 'https://p1.example.test' },
    })
    expect(config.channels.map(({ id }) => id)).toStrictEqual(['p1-main'])
    expect(warnings).toStrictEqual(
      ['p2-direct', 'p2-international', 'p2-proxy'].map(
        (id) => `channel ${id} has no upstream (base_url is simulator) and is left out`,
      ),
    )
  })

  it('simulated channels are still checked', () => {
    expect(problemsOf(changed('route: direct', 'route: x'), { mode: 'synth' })).toHaveLength(1)
  })
})
