import { describe, expect, it } from 'vitest'
import { parseCompletionRequest } from '#core/contract/completion-request.ts'
import { ModelNotFoundError } from '#core/errors.ts'
import { issuesOf, shippedCatalogue } from '../shipped-catalogue.ts'

const MODEL = 'chat-default'

function parse(body: unknown, allowedModels: readonly string[] | null = null) {
  return parseCompletionRequest(body, { catalogue: shippedCatalogue, allowedModels })
}

const issuesWith = (members: object) => issuesOf(() => parse({ model: MODEL, prompt: 'Once', ...members }))

describe('completion-request: parseCompletionRequest', () => {
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

  it('takes null for every member that may be left out', () => {
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
})
