import { beforeAll, describe, expect, it } from '@jest/globals'
import { CHAT, chatAnswer, sendJson, startRelayRig } from '../../engines/relay-rig.ts'
import { useOpened } from '../../engines/use-opened.ts'

const operation = 'create-completion'
const KIBIBYTE = 1024

const rig = useOpened(startRelayRig)

beforeAll(async () => {
  rig.upstreams[0]?.answerWith((response) => sendJson(response, chatAnswer()))
})

const prompts = (count: number) => Array.from({ length: count }, () => 'a')

describe('fields that every prompt of a legacy completion repeats', () => {
  it.each<[string, object]>([
    ['a long string', { prompt: prompts(128), user: 'u'.repeat(65 * KIBIBYTE) }],
    ['a long list of numbers', { prompt: prompts(128), logit_bias: Array.from({ length: 40_000 }, () => 1) }],
    ['two prompts with a body of nearly 5 MiB', { prompt: prompts(2), user: 'u'.repeat(4900 * KIBIBYTE) }],
  ])('are refused above 8 MiB in all, before any money is moved (%s)', async (_, fields) => {
    const { id, key } = await rig.tenant('1')
    const before = rig.upstreams[0]?.calls.length
    const { statusCode, text } = await rig.send({ model: CHAT, max_tokens: 1, ...fields }, { operation, key })
    expect(statusCode).toBe(400)
    expect(JSON.parse(text).error).toMatchObject({ param: 'prompt', message: expect.stringContaining('8 MiB') })
    expect(await rig.rows(id)).toStrictEqual([])
    expect(rig.upstreams[0]?.calls).toHaveLength(before ?? 0)
  })

  it.each<[string, object]>([
    ['128 prompts with 60 KiB', { prompt: prompts(128), user: 'u'.repeat(60 * KIBIBYTE) }],
    ['one prompt with a body of nearly 5 MiB', { prompt: 'a', user: 'u'.repeat(4900 * KIBIBYTE) }],
  ])('pass up to there (%s)', async (_, fields) => {
    const { key } = await rig.tenant('1000000')
    const { statusCode } = await rig.send({ model: CHAT, max_tokens: 1, ...fields }, { operation, key })
    expect(statusCode).toBe(200)
  })
})
