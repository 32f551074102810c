import { describe, expect, it } from '@jest/globals'
import { parseCompletionRequest } from '#core/api/completion-request.ts'
import { ModelNotFoundError } from '#core/errors.ts'
import { issuesOf, shippedCatalogue } from '../shipped-catalogue.ts'

const MODEL = 'chat-default'

function parse(body: unknown, allowedModels: readonly string[] | null = null) {
  return parseCompletionRequest(body, { catalogue: shippedCatalogue, allowedModels })
}

const issuesWith = (members: object) => issuesOf(() => parse({ model: MODEL, prompt: 'Once', ...members }))

describe('parseCompletionRequest', () => {
  it('fills in the documented defaults', () => {
    const { model, ...facts } = parse({ model: MODEL, prompt: 'Once' })
    expect(model.id).toBe(MODEL)
    expect(facts).toStrictEqual({
      prompts: ['Once'],
      n: 1,
      maxTokens: 16,
      maxTokensField: 'max_tokens',
      stream: false,
      includeUsage: false,
      echo: false,
      suffix: '',
    })
  })

  it('accepts every documented parameter and unknown fields', () => {
    const { model, ...facts } = parse({
      model: MODEL,
      prompt: ['Once', ''],
      max_tokens: 5,
      temperature: 2,
      top_p: 0,
      n: 2,
      stream: true,
      stream_options: { include_usage: true, include_obfuscation: false },
      stop: ['\n', 'END'],
      echo: true,
      suffix: ' END',
      best_of: 2,
      logprobs: 0,
      presence_penalty: -2,
      frequency_penalty: 2,
      user: 'someone',
      seed: 1,
      logit_bias: { 50256: -100 },
      top_k: 4,
    })
    expect(facts).toStrictEqual({
      prompts: ['Once', ''],
      n: 2,
      maxTokens: 5,
      maxTokensField: 'max_tokens',
      stream: true,
      includeUsage: true,
      echo: true,
      suffix: ' END',
    })
  })

  it('takes null for every field that may be left out', () => {
    const optional = ['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'n', 'stream', 'stream_options']
    const more = ['stop', 'echo', 'suffix', 'best_of', 'logprobs', 'presence_penalty', 'frequency_penalty', 'user']
    const nulls = Object.fromEntries([...optional, ...more].map((name) => [name, null]))
    expect(parse({ model: MODEL, prompt: 'Once', ...nulls })).toStrictEqual(parse({ model: MODEL, prompt: 'Once' }))
  })

  it.each([
    [{ max_completion_tokens: 40 }, 40, 'max_completion_tokens'],
    [{ max_completion_tokens: 40, max_tokens: 20 }, 20, 'max_tokens'],
  ])('%j bounds a completion to %i tokens by %s', (members, maxTokens, maxTokensField) => {
    expect(parse({ model: MODEL, prompt: 'Once', ...members })).toMatchObject({ maxTokens, maxTokensField })
  })

  it.each([
    ['an empty text', '', ['']],
    ['one text in a list', ['Once'], ['Once']],
    ['as many texts as there may be', Array(128).fill('a'), Array(128).fill('a')],
  ])('takes %s for a prompt', (_, prompt, prompts) => {
    expect(parse({ model: MODEL, prompt }).prompts).toStrictEqual(prompts)
  })

  it.each(['max_tokens', 'max_completion_tokens'])('refuses in %s more than the model makes', (path) => {
    expect(issuesWith({ [path]: 16_384 + 1 })).toStrictEqual([
      { path, message: `\`${path}\` must be at most 16384 for chat-default` },
    ])
  })

  it.each([
    ['an unknown model', 'nobody', null],
    ['a model of another kind', 'text-embedding-3-small', null],
    ['a model that the key may not use', MODEL, ['another']],
  ])('does not find %s', (_, model, allowed) => {
    expect(() => parse({ model, prompt: 'Once' }, allowed)).toThrow(ModelNotFoundError)
  })

  const TOKENS = '`prompt` must hold strings: token ids are not supported, because chat models take messages'
  const TEXTS = '`prompt` must be a string or an array of strings'

  it.each([
    ['token ids', [1, 2, 3], TOKENS],
    ['lists of token ids', [[1, 2], [3]], TOKENS],
    ['a list of empty lists', [[]], TOKENS],
    ['a text beside token ids', ['Once', 7], TOKENS],
    ['millions of token ids', Array(1_000_000).fill(7), TOKENS],
    ['an empty list', [], '`prompt` must hold at least one string'],
    ['too many texts', Array(129).fill('a'), '`prompt` must hold at most 128 strings'],
    ['nothing', undefined, '`prompt` is required and must be a string or an array of strings'],
    ['null', null, TEXTS],
    ['a number', 7, TEXTS],
    ['an object', { text: 'Once' }, TEXTS],
    ['a list of objects', [{ text: 'Once' }], TEXTS],
    ['a list with null', ['Once', null], TEXTS],
  ])('refuses %s for a prompt, in one sentence', (_, prompt, message) => {
    expect(issuesWith({ prompt })).toStrictEqual([{ path: 'prompt', message }])
  })

  it.each([
    [{ temperature: 2.1 }, 'temperature'],
    [{ temperature: '1' }, 'temperature'],
    [{ top_p: 1.1 }, 'top_p'],
    [{ n: 0 }, 'n'],
    [{ n: 1.5 }, 'n'],
    [{ n: 129 }, 'n'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ max_completion_tokens: 0 }, 'max_completion_tokens'],
    [{ stream: 'yes' }, 'stream'],
    [{ stream_options: true }, 'stream_options'],
    [{ stream_options: { include_usage: 1 } }, 'stream_options.include_usage'],
    [{ stop: 1 }, 'stop'],
    [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
    [{ echo: 'yes' }, 'echo'],
    [{ suffix: 1 }, 'suffix'],
    [{ presence_penalty: 2.1 }, 'presence_penalty'],
    [{ frequency_penalty: -2.1 }, 'frequency_penalty'],
    [{ user: 1 }, 'user'],
    [{ logprobs: 5 }, 'logprobs'],
    [{ logprobs: true }, 'logprobs'],
    [{ best_of: 3 }, 'best_of'],
    [{ best_of: 1, n: 2 }, 'best_of'],
    [{ best_of: '2', n: 2 }, 'best_of'],
  ])('refuses %j, naming the field', (members, path) => {
    expect(issuesWith(members)).toStrictEqual([
      { path, message: expect.stringContaining(path.split('.').at(-1) ?? '') },
    ])
  })

  it('bounds prompts times n', () => {
    expect(parse({ model: MODEL, prompt: Array(64).fill('a'), n: 2 }).n).toBe(2)
    expect(issuesWith({ prompt: Array(64).fill('a'), n: 3 })).toStrictEqual([
      { path: 'n', message: '`n` times the number of prompts must be at most 128: the request asks for 192' },
    ])
  })

  it('refuses an echo or a suffix whose repetitions no response can hold', () => {
    const long = 'a'.repeat(100_000)
    expect(parse({ model: MODEL, prompt: long, n: 80, echo: true }).echo).toBe(true)
    expect(parse({ model: MODEL, prompt: long, n: 128 }).echo).toBe(false)
    expect(issuesWith({ prompt: long, n: 128, echo: true })).toMatchObject([{ path: 'echo' }])
    expect(issuesWith({ prompt: Array(128).fill('a'), suffix: long })).toMatchObject([{ path: 'suffix' }])
  })

  it.each([
    ['null', null],
    ['a list', []],
    ['a string', 'Once'],
  ])('refuses %s for a body', (_, body) => {
    expect(issuesOf(() => parse(body))).toStrictEqual([{ path: '', message: 'the body must be a JSON object' }])
  })
})
