import { describe, expect, it } from 'vitest'
import { startOpenAiSimulator } from '../../../lib/simulators/openai/openai-simulator.ts'
import { shapeOf } from '../shared/shape-of.ts'
import { at, call } from '../shared/simulator-client.ts'
import { openAiFixture, withOpenAi } from './openai-client.ts'

describe('the OpenAI-style upstream', () => {
  it('listens below /v1 where it is told, and says so when the port is taken', async () => {
    await withOpenAi({}, async ({ simulator }) => {
      expect(simulator.baseUrl).toBe(`http://127.0.0.1:${simulator.port}/v1`)
      await expect(startOpenAiSimulator({ port: simulator.port })).rejects.toThrow('EADDRINUSE')
    })
  })

  it('records what it was asked', async () => {
    await withOpenAi({}, async ({ simulator, chat }) => {
      await chat('hi')
      expect(simulator.requests).toMatchObject([
        { method: 'POST', path: '/v1/chat/completions', body: { messages: [{ content: 'hi' }] } },
      ])
    })
  })

  it('gives every answer an id of its own and the time it took', async () => {
    await withOpenAi({}, async ({ chat, post, simulator }) => {
      const answers = [
        await chat('hi'),
        await chat('hi', { stream: true }),
        await chat('[error:500]'),
        await chat('[html]'),
        await post('/embeddings', {}),
        await call(simulator, '/v1/models'),
        await call(simulator, '/elsewhere'),
      ]
      const ids = answers.map(({ headers }) => headers.get('x-request-id'))
      expect(ids.every((id) => /^req_[0-9a-f]{32}$/.test(id ?? ''))).toBe(true)
      expect(new Set(ids).size).toBe(answers.length)
      expect(answers.every(({ headers }) => /^\d+$/.test(headers.get('openai-processing-ms') ?? ''))).toBe(true)
    })
  })

  it('takes any bearer token, but not none', async () => {
    await withOpenAi({}, async ({ simulator }) => {
      expect((await call(simulator, '/v1/models')).status).toBe(200)
      expect((await fetch(`${simulator.baseUrl}/models`)).status).toBe(401)
    })
  })

  it('refuses another token than the one it was given, as recorded', async () => {
    await withOpenAi({ apiKey: 'TEST_KEY' }, async ({ simulator }) => {
      const path = '/v1/models'
      expect((await call(simulator, path)).status).toBe(200)
      const refused = await call(simulator, path, { headers: { authorization: 'Bearer sk-something-else' } })
      expect([refused.status, shapeOf(refused.body)]).toEqual([401, shapeOf(openAiFixture('err_401').response.body)])
      expect(at(refused.body, 'error', 'code')).toBe('invalid_api_key')
      expect(refused.text).not.toContain('something')
    })
  })

  it('lists its models as recorded, and each alone', async () => {
    await withOpenAi({ models: ['chat-b', 'team/model'] }, async ({ simulator }) => {
      const list = await call(simulator, '/v1/models')
      expect(shapeOf(list.body)).toEqual(shapeOf(openAiFixture('models').response.body))
      expect([0, 1].map((index) => at(list.body, 'data', index, 'id'))).toEqual(['chat-b', 'team/model'])
      const one = await call(simulator, '/v1/models/team%2Fmodel')
      expect(one.body).toEqual(at(list.body, 'data', 1))
      const unknown = await call(simulator, '/v1/models/other')
      expect([unknown.status, at(unknown.body, 'error', 'code')]).toEqual([404, 'model_not_found'])
    })
  })

  it('answers another path with 404 and another method with 405', async () => {
    await withOpenAi({}, async ({ simulator }) => {
      const statusOf = async (path: string, method: string) => (await call(simulator, path, { method })).status
      expect(await statusOf('/v1/nothing', 'GET')).toBe(404)
      expect(await statusOf('/chat/completions', 'POST')).toBe(404)
      expect(await statusOf('/v1/chat/completions', 'GET')).toBe(405)
      expect(await statusOf('/v1/models', 'POST')).toBe(405)
    })
  })
})

describe('an error that the prompt asks for', () => {
  it.each([
    ['[error:401]', 'err_401'],
    ['[error:404]', 'err_404_model'],
    ['[error:429]', 'err_429_rate'],
    ['[error:429:quota]', 'err_429_quota'],
    ['[error:400:context]', 'err_400_context'],
    ['[error:500]', 'err_500'],
    ['[error:503]', 'err_503'],
    ['[policy]', 'images_policy'],
    ['[policy:nested]', 'images_policy_nested'],
  ])('%s is the recorded %s', async (word, name) => {
    await withOpenAi({}, async ({ chat }) => {
      const { response } = openAiFixture(name)
      const answer = await chat(`${word} hi`)
      expect([answer.status, shapeOf(answer.body)]).toEqual([response.status, shapeOf(response.body)])
      expect(at(answer.body, 'error', 'code')).toEqual(at(response.body, 'error', 'code'))
      expect(at(answer.body, 'error', 'type')).toEqual(at(response.body, 'error', 'type'))
    })
  })

  it.each([400, 402, 403, 409, 413, 418, 502, 504, 599])('may have the status %i', async (status) => {
    await withOpenAi({}, async ({ chat }) => {
      const answer = await chat(`[error:${status}]`, { stream: true })
      expect([answer.status, shapeOf(at(answer.body, 'error'))]).toMatchObject([
        status,
        { message: 'string', type: 'string', param: 'null' },
      ])
    })
  })

  it('says when to try again where that helps, or what it was told to say', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const retryAfter = async (prompt: string) => (await chat(prompt)).headers.get('retry-after')
      expect(await retryAfter('[error:429]')).toBe('2')
      expect(await retryAfter('[error:503]')).toBe('2')
      expect(await retryAfter('[error:429:quota]')).toBeNull()
      expect(await retryAfter('[error:500]')).toBeNull()
      expect(await retryAfter('[error:429][retry-after:soon]')).toBe('soon')
    })
  })

  it('comes once for the same text with [error-once]', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const statusOf = async (prompt: string) => (await chat(prompt)).status
      expect(await statusOf('[error-once:503] a')).toBe(503)
      expect(await statusOf('[error-once:503] a')).toBe(200)
      expect(await statusOf('[error-once:503] b')).toBe(503)
      expect((await chat('[error-once:429:quota] a')).text).toContain('insufficient_quota')
    })
  })

  it('is asked for by the last message of the user alone', async () => {
    await withOpenAi({}, async ({ post }) => {
      const say = (role: string, content: string) => ({ role, content })
      const messages = [say('user', '[error:500]'), say('assistant', '[error:500]'), say('user', 'hi')]
      expect((await post('/chat/completions', { model: 'a', messages })).status).toBe(200)
      const asked = [say('user', '[error:500]'), say('assistant', 'hi')]
      expect((await post('/chat/completions', { model: 'a', messages: asked })).status).toBe(500)
    })
  })

  it.each([
    ['/completions', { model: 'a', prompt: 'hi [error:503]' }],
    ['/embeddings', { model: 'a', input: ['hi', '[error:503]'] }],
    ['/images/generations', { model: 'a', prompt: '[error:503]' }],
  ])('works on %s too', async (path, body) => {
    await withOpenAi({}, async ({ post }) => {
      expect((await post(path, body)).status).toBe(503)
    })
  })
})
