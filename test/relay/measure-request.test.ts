import { Metrics } from '@aws-lambda-powertools/metrics'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { tokenCounts, tokenFacts } from '#core/pricing/token-usage.ts'
import { measureRequest } from '#lambdas/relay/measure-request.ts'

const addMetric = vi.spyOn(Metrics.prototype, 'addMetric')
const addMetadata = vi.spyOn(Metrics.prototype, 'addMetadata')
beforeEach(() => {
  addMetric.mockClear()
  addMetadata.mockClear()
})

const FACTS = { model: 'chat-default', channelId: 'main', firstByteMilliseconds: 12 }
const measured = () => Object.fromEntries(addMetric.mock.calls.map(([name, , value]) => [name, value]))

describe('measureRequest', () => {
  it.each([
    [200, {}, 'relay_succeeded'],
    [200, { streamEnd: 'whole' }, 'relay_succeeded'],
    [200, { streamEnd: 'abandoned' }, 'relay_succeeded'],
    [200, { streamEnd: 'broken' }, 'relay_failed'],
    [402, {}, 'relay_rejected'],
    [429, {}, 'relay_rejected'],
    [500, {}, 'relay_failed'],
    [503, {}, 'relay_failed'],
  ])('counts status %d with %j as %s', (statusCode, facts, outcome) => {
    measureRequest(statusCode, { ...FACTS, ...facts })
    const outcomes = Object.keys(measured()).filter((name) => name.startsWith('relay_'))
    expect(outcomes).toEqual([outcome])
  })

  it('measures the first byte of a success, and of nothing else', () => {
    measureRequest(200, FACTS)
    expect(measured()).toMatchObject({ first_byte_milliseconds: 12 })
    addMetric.mockClear()
    measureRequest(402, FACTS)
    expect(measured()).toEqual({ relay_rejected: 1 })
  })

  it('measures the tokens and the bill', () => {
    const tokens = tokenFacts(tokenCounts({ input: 3, output: 4 }))
    measureRequest(200, { model: 'chat-default', ...tokens, billedCredits: 0.5 })
    expect(measured()).toEqual({ relay_succeeded: 1, input_tokens: 3, output_tokens: 4, billed_credits: 0.5 })
    expect(addMetadata.mock.calls).toEqual(
      expect.arrayContaining([
        ['model', 'chat-default'],
        ['channel', 'none'],
      ]),
    )
  })

  it.each([
    ['a request that named no model', 400, { model: undefined }],
    ['a client that left before a response', undefined, {}],
  ])('measures nothing for %s', (_, statusCode, facts) => {
    measureRequest(statusCode, { ...FACTS, ...facts })
    expect(addMetric).not.toHaveBeenCalled()
  })
})
