import { afterEach, describe, expect, it, vi } from 'vitest'
import { tokenCounts } from '#core/quota/token-counts.ts'
import { reportUsageAboveBound, usageWithinBounds } from '#lambdas/relay/report-usage.ts'
import { shippedCatalogue } from '../core/shipped-catalogue.ts'
import { captureTelemetry } from '../engines/counted-facts.ts'
import { captureLog } from '../middleware/api-exchange.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

function chatModel() {
  const model = shippedCatalogue.findRelayModel('chat-default', { kind: 'chat', allowed: null })
  if (model === undefined) {
    throw new TypeError('there is no chat model')
  }
  return model
}

function limited(promptTokens: number, completionTokens: number, choices = 1) {
  const model = chatModel()
  const { counted } = captureTelemetry()
  const { context_tokens: prompt, max_output_tokens: output } = model
  const call = { requestId: 'request-1', channelId: 'main', model, choices }
  const usage = tokenCounts({ input: prompt + promptTokens, output: output + completionTokens })
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
    expect(bounded).toEqual(tokenCounts({ input: prompt, output: output }))
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

describe('a usage whose parts were above their whole', () => {
  it('is logged and counted, and billed as it was cut', () => {
    const { counted } = captureTelemetry()
    const log = captureLog()
    const usage = tokenCounts({ cachedInput: 100, output: 3, isCorrected: true })
    const call = { requestId: 'request-1', channelId: 'main', model: chatModel(), choices: 1 }
    expect(usageWithinBounds(usage, call)).toBe(usage)
    expect(counted()).toEqual(['usage_refused'])
    expect(log.entries()).toContainEqual(
      expect.objectContaining({ level: 'ERROR', requestId: 'request-1', promptTokens: 100, completionTokens: 3 }),
    )
  })
})
