import { describe, expect, it } from 'vitest'
import { completionBodySchema } from '#core/contract/completion-body.ts'
import { parseBody } from '#core/contract/request-issues.ts'
import { issuesOf } from '../shipped-catalogue.ts'

const read = (fields: object) => parseBody(completionBodySchema, { model: 'chat-default', prompt: 'Once', ...fields })
const issuesWith = (fields: object) => issuesOf(() => read(fields))

describe('completion-body', () => {
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
    ['nothing', undefined, TEXTS],
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
    expect(read({ prompt: Array(64).fill('a'), n: 2 }).n).toBe(2)
    expect(issuesWith({ prompt: Array(64).fill('a'), n: 3 })).toStrictEqual([
      { path: 'n', message: '`n` times the number of prompts must be at most 128: the request asks for 192' },
    ])
  })

  it('refuses an echo or a suffix whose repetitions no response can hold', () => {
    const long = 'a'.repeat(100_000)
    expect(read({ prompt: long, n: 80, echo: true }).echo).toBe(true)
    expect(read({ prompt: long, n: 128 }).echo).toBeUndefined()
    expect(issuesWith({ prompt: long, n: 128, echo: true })).toMatchObject([{ path: 'echo' }])
    expect(issuesWith({ prompt: Array(128).fill('a'), suffix: long })).toMatchObject([{ path: 'suffix' }])
  })

  it.each([
    ['null', null],
    ['a list', []],
    ['a string', 'Once'],
  ])('refuses %s for a body', (_, body) => {
    expect(issuesOf(() => parseBody(completionBodySchema, body))).toStrictEqual([
      { path: '', message: 'the body must be a JSON object' },
    ])
  })
})
