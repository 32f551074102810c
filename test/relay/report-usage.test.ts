import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { reportUsageAboveBound, usageWithinBounds } from '#lambdas/relay/report-usage.ts'
import { shippedCatalogue } from '../core/shipped-catalogue.ts'
import { captureTelemetry } from '../engines/counted-facts.ts'
import { captureLog } from '../middleware/api-exchange.ts'

afterEach(() => {
  jest.restoreAllMocks()
})

const model = shippedCatalogue.findRelayModel('chat-default', { kind: 'chat', allowed: null })

function limited(promptTokens: number, completionTokens: number, choices = 1) {
  if (model === undefined) {
    throw new TypeError('there is no chat model')
  }
  const { counted } = captureTelemetry()
  const { context_tokens: prompt, max_output_tokens: output } = model
  const call = { requestId: 'request-1', channelId: 'main', model, choices }
  const usage = { promptTokens: prompt + promptTokens, completionTokens: output + completionTokens }
  return { bounded: usageWithinBounds(usage, call), usage, counted: counted(), prompt, output }
}

describe('usageWithinBounds', () => {
  it('leaves a usage at the bounds of the model as it is, and counts nothing', () => {
    const { bounded, usage, counted } = limited(0, 0)
    expect(bounded).toBe(usage)
    expect(counted).toEqual([])
  })

  it.each([
    [1, 0],
    [0, 1],
  ])('reduces a usage above the bounds (by %d and %d), and counts it', (promptTokens, completionTokens) => {
    const { bounded, counted, prompt, output } = limited(promptTokens, completionTokens)
    expect(bounded).toEqual({ promptTokens: prompt, completionTokens: output })
    expect(counted).toEqual(['usage_above_bound'])
  })

  it('allows the output of every completion that the call asked for', () => {
    expect(limited(0, 1, 2).counted).toEqual([])
  })
})

describe('reportUsageAboveBound', () => {
  it('logs what was reported, short and printable, with the call', () => {
    captureTelemetry()
    const log = captureLog()
    const call = { requestId: 'request-1', modelId: 'image-v3', channelId: 'main' }
    reportUsageAboveBound(call, { images: 1e308 })
    expect(log.entries()).toContainEqual(
      expect.objectContaining({
        level: 'ERROR',
        requestId: 'request-1',
        model: 'image-v3',
        channelId: 'main',
        images: '1e+308',
      }),
    )
  })
})
