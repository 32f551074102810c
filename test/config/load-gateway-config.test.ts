// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is what an operator writes.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { upstreamVariables } from '../../lib/cli/serve-simulators.ts'
import { GatewayConfigError, loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'
import { SHIPPED_FILE } from '../core/shipped-catalogue.ts'
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

  it('has its defaults filled in', () => {
    const { config } = load(
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
      environment: { P1_BASE_URL: 'https://p1.example.test' },
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
