import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { parseOpenAiBody } from '../../../lib/simulators/openai/openai-body.ts'

const schema = z.object({ model: z.string(), messages: z.array(z.object({ n: z.int().min(1) })).optional() })

describe('openai-body', () => {
  it('returns a body that its schema takes', () => {
    expect(parseOpenAiBody(schema, { model: 'm', other: 1 })).toEqual({ model: 'm' })
  })

  it.each([
    [{}, { param: 'model', code: 'missing_required_parameter' }],
    [{ model: 1 }, { param: 'model', code: 'invalid_type' }],
    [
      { model: 'm', messages: [{ n: 0 }] },
      { param: 'messages[0].n', code: 'invalid_value' },
    ],
    [null, { param: null, code: null }],
    [[], { param: null, code: null }],
  ])('refuses %j with 400 and the first wrong field', (body, error) => {
    expect(() => parseOpenAiBody(schema, body)).toThrow(
      expect.objectContaining({ status: 400, error: expect.objectContaining(error) }),
    )
  })
})
