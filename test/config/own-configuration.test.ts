// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is what an operator writes.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import * as z from 'zod'
import { catalogueWarnings, configJsonSchema, loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'
import { shippedConfig } from '../core/shipped-catalogue.ts'
import { load, problemsOf } from './edited-config.ts'

const EXAMPLES = join(import.meta.dirname, '../../config/examples')

describe('an example of a configuration', () => {
  it.each(readdirSync(EXAMPLES))('%s starts as it is, deploys as it is, and needs no other file', (name) => {
    const file = join(EXAMPLES, name)
    const text = readFileSync(file, 'utf8')
    const keys = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, key]) => [key, 'a-key'])
    const environment = Object.fromEntries(keys)
    for (const mode of ['start', 'synth', 'simulated'] as const) {
      const { config, warnings } = loadGatewayConfig({ file, environment, mode })
      expect([...warnings, ...catalogueWarnings(config)]).toStrictEqual([])
      expect(config.channels.length).toBeGreaterThan(0)
    }
    expect(Object.keys(parse(text)).filter((key) => key !== 'channels' && key !== 'models')).toStrictEqual([])
    expect(text.split('\n').length).toBeLessThan(40)
    expect(z.fromJSONSchema(JSON.parse(configJsonSchema())).safeParse(parse(text)).error).toBeUndefined()
    for (const key of Object.keys(environment)) {
      expect(text).toContain(`${key}=...`)
    }
    expect(text).toContain(`npm start -- --config config/examples/${name}`)
  })
})

const CHANNEL = `channels:
  - id: mine
    provider: p1
    base_url: https://videos.example.com
    async_header: X-Async
    models: { famB-1.1-t2v: wide-1 }
`

function shippedModel(id: string) {
  return shippedConfig.models.find((model) => model.id === id)
}

describe('a configuration of your own', () => {
  it('takes the models that its channels name from the shipped one, and no others', () => {
    expect(load(CHANNEL).config.models).toStrictEqual([shippedModel('famB-1.1-t2v')])
  })

  it('changes fields of a shipped model by a row without kind', () => {
    const prices = [{ resolution: 'any', audio: 'any', video_input: 'any', price: '0.5' }]
    const { config } = load(`${CHANNEL}models: [{ id: famB-1.1-t2v, prices: [{ price: "0.5" }] }]\n`)
    expect(config.models).toStrictEqual([{ ...shippedModel('famB-1.1-t2v'), prices }])
  })

  it('defines a model of its own by a row with kind, whatever the shipped one has', () => {
    const row =
      '{ id: chat-default, kind: chat, billing: token, context_tokens: 100, max_output_tokens: 10, prices: [{ input: "1", output: "2" }] }'
    expect(load(`channels: []\nmodels: [${row}]\n`).config.models).toMatchObject([
      { id: 'chat-default', context_tokens: 100, input_modalities: ['text'] },
    ])
  })

  it('is deployed without callbacks to this machine, which only a local host can mean', () => {
    const text = `callback_allowlist: [hooks.example.com, "http://127.0.0.1:*"]\n${CHANNEL}`
    expect(load(text).config.callback_allowlist).toStrictEqual(['hooks.example.com', 'http://127.0.0.1:*'])
    expect(load(text, { mode: 'synth' }).config.callback_allowlist).toStrictEqual(['hooks.example.com'])
    expect(problemsOf(text.replace('127.0.0.1', '10.0.0.1'))).toStrictEqual([
      expect.stringContaining('callback_allowlist[1]: use'),
    ])
  })

  it('is simulated whatever its variables are', () => {
    const text = CHANNEL.replace('https://videos.example.com', '${VIDEOS}').replace('wide-1', '"${WIDE:-famB-1.1-t2v}"')
    const { config } = load(text, {
      mode: 'simulated',
      environment: { VIDEOS: 'https://real.example.com', WIDE: 'wide-2' },
    })
    expect(config.channels).toMatchObject([{ base_url: 'simulator', models: { 'famB-1.1-t2v': 'famB-1.1-t2v' } }])
  })

  it('is not simulated where its base url is neither an address nor the word', () => {
    const text = CHANNEL.replace('https://videos.example.com', 'simulators')
    expect(problemsOf(text, { mode: 'simulated' })).toStrictEqual([
      expect.stringContaining('channels[0].base_url: use'),
    ])
  })

  it('is told of an unknown key and of the unset variable in it at once', () => {
    expect(problemsOf(CHANNEL.replace('base_url: ', 'baseurl: ${UNSET}\n    base_url: '))).toStrictEqual([
      expect.stringContaining('channels[0].baseurl: ${UNSET} is used but UNSET is not set'),
      expect.stringContaining('channels[0].baseurl: unknown key "baseurl"; did you mean base_url?'),
    ])
  })

  it('is told which shipped model it may have meant', () => {
    expect(problemsOf(CHANNEL.replace('famB-1.1-t2v', 'famB-1.1-t2x'))).toStrictEqual([
      expect.stringContaining(
        'channels[0].models.famB-1.1-t2x: no model "famB-1.1-t2x" in models; did you mean famB-1.1-t2v?',
      ),
    ])
    expect(problemsOf(CHANNEL.replace('famB-1.1-t2v', 'nothing'))).toStrictEqual([
      expect.stringMatching(/no model "nothing" in models; allowed: .*chat-default/),
    ])
    expect(problemsOf(`${CHANNEL}models:\n  - id: famB-1.1-t2x\n    enabled: false\n`)).toStrictEqual([
      '8 models[0].kind: no shipped model "famB-1.1-t2x", so write a kind; did you mean famB-1.1-t2v? allowed: video, chat, embedding, image',
    ])
    const chat = 'kind: chat, context_tokens: 9, max_output_tokens: 9, prices: [{ input: "1", output: "1" }]'
    expect(problemsOf(`${CHANNEL}models:\n  - { id: own, ${chat} }\n`)).toContainEqual(
      expect.stringContaining('models[0].billing: is missing; allowed: token'),
    )
  })
})
