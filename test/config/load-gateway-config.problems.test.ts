// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is what an operator writes.
import { existsSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { VIDEO_PROVIDERS } from '#core/providers/registry.ts'
import { changed, lineOf, load, problemsOf, sample } from './edited-config.ts'

const PROVIDERS = [...VIDEO_PROVIDERS.map(({ name }) => name), 'openai'].join(', ')

describe('a problem', () => {
  it.each<readonly [string, string, string, string]>([
    [
      'an unknown key',
      'queue_minutes: 60',
      'queue_minute: 60',
      'queue_minute: unknown key "queue_minute"; did you mean queue_minutes? allowed: $schema, unit, callback_allowlist,',
    ],
    [
      'an unknown key inside a row',
      'max_open_jobs: 100',
      'max_open_job: 100',
      'channels[0].max_open_job: unknown key "max_open_job"; did you mean max_open_jobs? allowed: id, base_url,',
    ],
    [
      'a wrong word',
      'route: direct',
      'route: directly',
      'channels[1].route: not allowed; did you mean direct? allowed: direct, international, proxy',
    ],
    ['a wrong provider', 'provider: p1', 'provider: p9', `channels[0].provider: not allowed; allowed: ${PROVIDERS}`],
    [
      'a wrong kind',
      'kind: chat',
      'kind: chatty',
      'models[5].kind: not allowed; did you mean chat? allowed: video, chat, embedding, image',
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
      'models[1].prices[0].price: write the price as a decimal string in credits, such as "0.14"',
    ],
    [
      'a price of seven places',
      'price: "1.80"',
      'price: "1.8000001"',
      'models[1].prices[0].price: write a decimal string in credits with at most six places, such as "0.14"',
    ],
    [
      'a negative price',
      'price: "1.80"',
      'price: "-1.80"',
      'models[1].prices[0].price: write a decimal string in credits with at most six places, such as "0.14"',
    ],
    [
      'an absurd price',
      'price: "1.80"',
      'price: "1000000000.1"',
      'models[1].prices[0].price: write a decimal string in credits with at most six places, such as "0.14"',
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
    ['a broken number', 'max_open_jobs: 100', 'max_open_jobs: 1.5', 'channels[0].max_open_jobs: write an integer'],
    ['a text for a number', 'max_open_jobs: 100', 'max_open_jobs: "100"', 'channels[0].max_open_jobs: write a number'],
    [
      'a key in place of its name',
      'api_key: ${P1_API_KEY}',
      'api_key: sk-live-1',
      'channels[0].api_key: write ${NAME}: an environment variable of the local host, an entry of the channel secret on AWS',
    ],
    [
      'an upstream that is no url',
      'base_url: ${P1_BASE_URL:-simulator}',
      'base_url: p1.example.test',
      'channels[0].base_url: use an http(s) url without query, or the word simulator',
    ],
    ...[
      'https://user:pass@p1.example.test',
      'https://key@p1.example.test/v1',
      'http://@p1.example.test',
      'https://a@b@c.test',
    ].map(
      (url) =>
        [
          `an upstream with somebody's name in its url: ${url}`,
          'base_url: ${P1_BASE_URL:-simulator}',
          `base_url: ${url}`,
          'channels[0].base_url: leave the user name and password out of the url, which is not secret: put the secret into `api_key`',
        ] as const,
    ),
    ...['Authorization', 'authorization', 'Content-Type', 'HOST', 'x-client-request-id', 'Transfer-Encoding'].map(
      (header) =>
        [
          `the gateway's own header ${header} for asynchronous mode`,
          'async_header: ${P1_ASYNC_HEADER:-X-Provider-Async}',
          `async_header: ${header}`,
          'channels[0].async_header: the gateway or the connection sets this header: use the header for asynchronous mode of this upstream',
        ] as const,
    ),
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
      'trusted_origins[0]: use an origin such as http://127.0.0.1:9400, without a path or a trailing slash',
    ],
    [
      'a duplicate id of a channel',
      'id: p2-direct',
      'id: p1-main',
      'channels[1].id: "p1-main" is used twice; every id must be unique',
    ],
    [
      'a channel with an unknown model',
      'famA-1-pro: famA-1-pro',
      'famA-1-max: famA-1-max',
      'channels[1].models.famA-1-max: no model "famA-1-max" in models; allowed: famA-2, famA-1-lite,',
    ],
    [
      'a model of a kind that the channel cannot serve',
      'famA-1-pro: famA-1-pro',
      'chat-default: chat',
      'channels[1].models.chat-default: a channel of provider p2 cannot serve a model of kind chat',
    ],
    [
      'a default that is not offered',
      'resolutions: [480P, 720P]\n    default_resolution: 720P',
      'resolutions: [480P, 720P]\n    default_resolution: 1080P',
      'models[1].default_resolution: 1080P is not in resolutions; allowed: 480P, 720P',
    ],
    [
      'an input video without a longest length',
      'input_video_seconds_max: 60',
      'input_video_seconds_max: 0',
      'models[4].input_video_seconds_max: a model that takes a reference video needs its longest length in seconds for the estimate',
    ],
    [
      'durations the wrong way round',
      'durations: { min: 3, max: 10 }',
      'durations: { min: 10, max: 3 }',
      'models[1].durations: min must be at most max',
    ],
    [
      'counts the wrong way round',
      'images: { min: 0, max: 1 }',
      'images: { min: 1, max: 0 }',
      'models[1].images: min must be at most max',
    ],
    [
      'half of a pair of upstream models',
      '{ text: famA-1-lite-t2v, image: famA-1-lite-i2v }',
      '{ text: famA-1-lite-t2v }',
      'channels[1].models.famA-1-lite.image: is missing; write a string',
    ],
    [
      'a poll path without its id',
      'poll: "/v1/video/generations/{id}"',
      'poll: "/v1/video/generations"',
      'channels[2].paths.poll: the path needs {id}, where the task id goes',
    ],
  ])('with %s says where, what and what is allowed', (_, passage, replacement, expected) => {
    const text = changed(passage, replacement)
    const [first = '', ...others] = problemsOf(text)
    expect(others).toStrictEqual([])
    const [line, ...said] = first.split(' ')
    expect(said.join(' ')).toContain(expected)
    const firstLine = lineOf(sample, passage)
    expect([firstLine, firstLine + passage.split('\n').length - 1]).toContain(Number(line))
  })

  it('of missing prices names every cell', () => {
    const text = changed('- { price: "1.80" }', '- { resolution: 480P, audio: false, price: "1.80" }')
    expect(problemsOf(text).map((line) => line.replace(/^\d+ /, ''))).toStrictEqual([
      'models[1].prices: no price for resolution 480P, audio true, video_input false',
      'models[1].prices: no price for resolution 720P, audio true, video_input false',
      'models[1].prices: no price for resolution 720P, audio false, video_input false',
    ])
  })

  it('of a missing key stands at the row that lacks it', () => {
    const text = changed('    async_header: ${P1_ASYNC_HEADER:-X-Provider-Async}\n', '')
    expect(problemsOf(text)).toStrictEqual([
      `${lineOf(text, 'id: p1-main')} channels[0].async_header: is missing; write a string`,
    ])
  })

  it.each(['X', 'x-Async', "!#$%&'*+-.^_`|~09"])('is none of the header name %s, a token of RFC 9110', (name) => {
    expect(problemsOf(sample, { environment: { P1_ASYNC_HEADER: name } })).toStrictEqual([])
  })

  it.each(['X Async', 'X:', 'X\r\nY', 'É'])('of the header name %j is one', (name) => {
    expect(problemsOf(sample, { environment: { P1_ASYNC_HEADER: name } })[0]).toContain('use a header name')
  })

  it('in a row does not hide what is wrong between rows', () => {
    const text = changed('max_open_jobs: 100', 'max_open_jobs: "100"')
      .replace('famA-1-pro: famA-1-pro', 'famA-1-prp: famA-1-pro')
      .replace('id: p2-direct', 'id: p1-main')
    expect(problemsOf(text).map((line) => line.replace(/^\d+ /, ''))).toStrictEqual([
      'channels[0].max_open_jobs: write a number',
      'channels[1].id: "p1-main" is used twice; every id must be unique',
      expect.stringMatching(
        /^channels\[1\]\.models\.famA-1-prp: no model "famA-1-prp" in models; did you mean famA-1-pro\? allowed: famA-2,/,
      ),
    ])
  })

  it('with the provider of a channel does not hide those of its other fields', () => {
    const text =
      'channels:\n  - id: Mine\n    provider: opnai\n    base_url: api.example.com\n    timeout: {}\n    models: {}\n'
    expect(
      problemsOf(`${text}models: []\n`).map((line) => line.replace(/; allowed: .*|\? allowed: .*/, '')),
    ).toStrictEqual([
      '2 channels[0].id: use 2 to 63 lower-case letters, digits and hyphens',
      '3 channels[0].provider: not allowed; did you mean openai',
      '4 channels[0].base_url: use an http(s) url without query, or the word simulator',
      '5 channels[0].timeout: unknown key "timeout"; did you mean timeouts',
      '7 models: must have at least 1 entry',
    ])
    const unknown = problemsOf(`${text.replace('opnai', 'acme')}models: []\n`)
    expect(unknown.map((line) => line.split(': ')[0])).toStrictEqual([
      '2 channels[0].id',
      '3 channels[0].provider',
      '4 channels[0].base_url',
      '5 channels[0].timeout',
      '7 models',
    ])
  })

  it.each([
    ['chanels: []', 'did you mean channels?'],
    ['QueueMinutes: 60', 'did you mean queue_minutes?'],
    ['answer-seconds: 60', 'did you mean answer_seconds?'],
    ['callback: []', 'did you mean callback_allowlist?'],
  ])('with a mistyped key says what was meant: %s', (line, expected) => {
    expect(problemsOf(`${line}\n${sample}`)[0]).toContain(`1 ${line.split(':')[0]}: unknown key`)
    expect(problemsOf(`${line}\n${sample}`)[0]).toContain(expected)
  })

  it('with a key that is like no other lists what is allowed', () => {
    expect(problemsOf(`nonsense: 1\n${sample}`)[0]).toContain(
      '1 nonsense: unknown key "nonsense"; allowed: $schema, unit,',
    )
  })

  it('with two unknown keys has a line for each', () => {
    const places = problemsOf(`chanels: []\nmodles: []\n${sample}`).map((line) => line.split(':')[0])
    expect(places).toStrictEqual(['1 chanels', '2 modles'])
  })

  it('of syntax is told with its line, and so is the next one', () => {
    expect(() => load('channels: [}\nmodels: [}\n')).toThrow(
      /gateway\.yaml:1 not valid YAML: [\s\S]*gateway\.yaml:2 not valid YAML: /,
    )
  })

  it('of keys that an upstream needs at the start names every one with its channel', () => {
    const environment = { P1_BASE_URL: 'https://one.example.com', P2_DIRECT_BASE_URL: 'https://two.example.com' }
    expect(problemsOf(sample, { environment, mode: 'start' })).toStrictEqual([
      expect.stringContaining('channels[0].api_key: channel p1-main has an upstream and no key: set P1_API_KEY in the'),
      expect.stringContaining(
        'channels[1].api_key: channel p2-direct has an upstream and no key: set P2_DIRECT_API_KEY',
      ),
    ])
    expect(problemsOf(sample, { environment, mode: 'simulated' })).toStrictEqual([])
  })

  it('does not hide the next one', () => {
    const text = changed('max_open_jobs: 100', 'max_open_jobs: 0').replace('route: direct', 'route: x')
    expect(problemsOf(text)).toHaveLength(2)
  })

  it('in a JSON file has a place too', () => {
    const text = JSON.stringify(parse(sample), null, 2).replace('"unit": "credit"', '"unit": "euro"')
    expect(problemsOf(text)).toStrictEqual(['2 unit: not allowed; allowed: credit'])
  })

  it.each(['', '# nothing yet\n', 'null\n'])('of the empty file %j says what to write', (text) => {
    expect(problemsOf(text)).toStrictEqual([
      '1 (file): is empty; write `channels`, and `models` of your own, as in config/examples/openai-compatible.yaml',
    ])
  })

  it('of an empty list of channels says what to write, and not that models are missing', () => {
    const problem = '1 channels: is empty; write a channel, as in config/examples/openai-compatible.yaml'
    expect(problemsOf('channels: []\n')).toStrictEqual([problem])
    expect(problemsOf('channels: []\nmodels: []\n')).toStrictEqual([problem])
  })

  it.each([
    ['anthropic', 'anthropic'],
    ['AWS Bedrock', 'bedrock'],
    ['openrouter', 'openrouter'],
    ['azure', 'openai-compatible'],
    ['gemini', 'openai-compatible'],
    ['dashscope', 'model-studio'],
  ])('of the provider %j names the example of such a channel', (provider, example) => {
    const text = `channels:\n  - id: main\n    provider: ${provider}\n    base_url: https://api.example.com/v1\n    models: { chat-default: x }\n`
    expect(problemsOf(text)).toStrictEqual([
      `3 channels[0].provider: not allowed; write the channel as in config/examples/${example}.yaml; allowed: p1, p2, openai`,
    ])
    expect(existsSync(`config/examples/${example}.yaml`)).toBe(true)
  })

  it.each(['/chat/completions', '/messages', '/responses/', '/embeddings', '/images/generations', '/completions'])(
    'of a base url that ends in %s says the right one',
    (path) => {
      const text = `channels:\n  - id: main\n    provider: openai\n    base_url: https://api.example.com/v1${path}\n    models: { chat-default: x }\n`
      expect(problemsOf(text)).toStrictEqual([
        `4 channels[0].base_url: ends in ${path.replace(/\/$/, '')}, which the gateway adds; write https://api.example.com/v1`,
      ])
    },
  )

  it('of a tab is told once, and not what the parser misreads behind it', () => {
    expect(() => load('channels:\n  - id: main\n\tprovider: openai\n    models: {}\n')).toThrow(
      /^[^\n]*gateway\.yaml:3 not valid YAML: a tab in the indentation; indent with spaces$/,
    )
  })

  it('of a variable without quotes in a flow map is told once', () => {
    expect(() => load('channels:\n  - { id: main, base_url: ${URL}, models: { a: ${MODEL} } }\nmodels: []\n')).toThrow(
      /^[^\n]*gateway\.yaml:2 not valid YAML: a variable between braces or brackets needs quotes: "\$\{NAME\}"$/,
    )
  })

  it.each(['[1]', 'text', '5'])('of the whole file %j is told as such', (text) => {
    expect(problemsOf(text)).toStrictEqual(['1 (file): write a block of keys'])
  })
})

describe('a problem of an identity issuer', () => {
  const rule = (more: string) => `{ name: ci, when: { sub: "*" }, tenant: acme${more} }`
  const withIssuer = (rules: string, issuer = 'https://issuer.example.com') => `${sample}
identity:
  issuers:
    - { issuer: "${issuer}", audience: "https://gateway.example.com", rules: [${rules}] }
`

  it.each([
    ['a model that does not exist', rule(', models: [nothing]'), 'no model "nothing" in models'],
    ['two budgets', rule(', budget: 1/day, budget_of_all: 1/day'), 'use `budget` or `budget_of_all`'],
    ['a budget without a period', rule(', budget: "5"'), 'write credits per period, such as 5/month'],
    [
      'a number for a budget',
      rule(', budget: 5'),
      'rules[0].budget: write credits per period, such as 5/month; periods:',
    ],
    ['a name that is used twice', `${rule('')}, ${rule('')}`, 'rules[1].name: "ci" is used twice'],
    ['no condition', '{ name: ci, when: {}, tenant: acme }', 'name at least one claim'],
    ['a number that is rounded', '{ name: ci, when: { org: 9007199254740993 }, tenant: acme }', 'cannot be told apart'],
    [
      'a rounded number among several',
      '{ name: ci, when: { org: [1, 9007199254740993] }, tenant: acme }',
      'cannot be told apart',
    ],
  ])('names %s', (_, rules, message) => {
    expect(problemsOf(withIssuer(rules)).join('\n')).toContain(message)
  })

  it('is a local place of keys that is not at the origin of the issuer, and not trusted', () => {
    const url = 'http://127.0.0.1:9000/keys'
    const text = withIssuer(rule('')).replace('audience:', `jwks_url: "${url}", audience:`)
    expect(problemsOf(text)).toEqual([
      expect.stringContaining(
        'issuers[0].jwks_url: is not at the origin of its issuer: add "http://127.0.0.1:9000" to trusted_origins',
      ),
    ])
    expect(problemsOf(text.replace('trusted_origins: []', 'trusted_origins: ["http://127.0.0.1:9000"]'))).toEqual([])
    expect(problemsOf(text.replace('https://issuer.example.com', 'http://127.0.0.1:9000'))).toEqual([])
  })

  it('is plain http where it is deployed, but not for this machine on a local host', () => {
    const text = withIssuer(rule(''), 'http://127.0.0.1:9000')
    expect(problemsOf(text)).toEqual([])
    expect(problemsOf(text, { mode: 'synth' }).join('\n')).toContain('a deployment takes https only')
    for (const mode of ['local', 'synth'] as const) {
      expect(problemsOf(withIssuer(rule(''), 'http://issuer.example.com'), { mode })).toEqual([
        expect.stringContaining(
          'issuers[0].issuer: use https; plain http is for an issuer on the machine of a local host',
        ),
      ])
    }
  })
})
