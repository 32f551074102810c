import { describe, expect, it } from 'vitest'
import { type SampleEvents, TARGETS } from './sample-events.ts'

/** Tests of the relaying functions. */
export function describeRelayBundles(sample: () => SampleEvents): void {
  describe('the deployed relay', () => {
    it('lists the models, and gets one', async () => {
      const { body } = await sample().request('api-list-models')
      expect(body).toMatchObject({ object: 'list', data: expect.any(Array) })
      await expect(sample().request('api-get-model')).resolves.toMatchObject({
        statusCode: 200,
        body: { id: 'chat-default', object: 'model' },
      })
    })

    it('streams a complete chat completion with the requested usage', async () => {
      const { statusCode, contentType, text } = await sample().stream('api-create-chat-completion')
      expect({ statusCode, contentType }).toEqual({
        statusCode: 200,
        contentType: expect.stringContaining('text/event-stream'),
      })
      const events = text.split('\n\n').filter((event) => event.startsWith('data: '))
      expect(events.at(-1)).toBe('data: [DONE]')
      expect(JSON.parse(events.at(-2)?.slice(6) ?? '')).toMatchObject({
        model: 'chat-default',
        usage: { total_tokens: expect.any(Number) },
      })
    })

    it.each([
      ['api-create-completion', { object: 'text_completion', choices: [expect.objectContaining({ index: 0 })] }],
      ['api-create-embedding', { object: 'list', data: [{ index: 0 }, { index: 1 }] }],
      ['api-create-image', { data: [expect.objectContaining({ url: expect.any(String) })] }],
    ])('returns %s in one piece through its stream', async (name, expected) => {
      const { statusCode, contentType, text } = await sample().stream(name)
      expect({ statusCode, contentType }).toEqual({ statusCode: 200, contentType: 'application/json' })
      expect(JSON.parse(text)).toMatchObject(expected)
    })

    it('responds without streaming, and without the global of Lambda’s runtime', async () => {
      const name = 'api-create-embedding'
      const result = await sample().service.functions.invoke(TARGETS[name] ?? '', sample().read(name), 'handler')
      expect(result).toMatchObject({ statusCode: 200, body: expect.stringMatching(/^\{"object":\s*"list"/) })
    })

    it('uses the same framing for refusals', async () => {
      const { statusCode, text } = await sample().stream('api-create-chat-completion', {
        headers: {},
        multiValueHeaders: {},
      })
      expect(statusCode).toBe(401)
      expect(JSON.parse(text)).toMatchObject({ error: { code: 'invalid_api_key' } })
    })

    it.each([
      [8_000, 200],
      [8_200, 400],
    ])(
      'counts %i tokens of a long string with the vocabulary beside its code, and returns %i',
      async (tokens, status) => {
        const body = JSON.stringify({ model: 'text-embedding-3-small', input: ' paper'.repeat(tokens) })
        expect((await sample().stream('api-create-embedding', { body })).statusCode).toBe(status)
      },
    )
  })
}
