import { describe, expect, it } from 'vitest'
import { InvalidRequestError } from '#core/errors.ts'
import { estimateVideoLine } from '#core/quota/estimate.ts'
import { offerVideoJob } from '#core/quota/offer-video-job.ts'
import { PER_SECOND_MODEL, testCatalogue } from '../../engines/test-catalogue.ts'

const catalogue = testCatalogue()
const BODY = { model: PER_SECOND_MODEL, prompt: 'a boat', duration: 5 }

describe('offerVideoJob', () => {
  it('prices a valid request at what a create reserves', () => {
    const { request, line, tier } = offerVideoJob(BODY, { catalogue, allowedModels: null })
    const model = catalogue.findVideoModel(PER_SECOND_MODEL)
    expect(model && line.amount).toBe(model && estimateVideoLine(request, model).amount)
    expect([line.quantity, line.unit, tier.videoInput]).toEqual(['5', 'second', false])
  })

  it.each([
    ['a wrong field', { ...BODY, duration: 500 }, null],
    ['a model that the key may not use', BODY, ['chat-default']],
    ['an unknown model', { ...BODY, model: 'nothing' }, null],
  ])('refuses %s', (_, body, allowedModels) => {
    expect(() => offerVideoJob(body, { catalogue, allowedModels })).toThrow(InvalidRequestError)
  })
})
