import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request as send } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from '@jest/globals'
import { withSimulatedFailure } from '#local/simulated-failures.ts'
import { whenTestEnds } from '../runner/when-test-ends.ts'

const REAL = [{ id: 'openai-real', models: { 'real-model': 'real-model' } }]

/** Sends a request through, and answers with what was made of it: the body and headers, or the refusal. */
async function passed(path: string, asked: string | undefined, body: unknown) {
  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    const changed = await withSimulatedFailure(request, response, { realChannels: REAL, requestId: 'r1' })
    if (changed !== undefined) {
      response.end(JSON.stringify({ headers: changed.headers, body: await text(changed) }))
    }
  })
  whenTestEnds(() => new Promise<void>((resolve) => void server.close(() => resolve())))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const headers = { authorization: 'Bearer k', ...(asked === undefined ? {} : { 'x-simulate': asked }) }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = send({ port, path, method: 'POST', headers, agent: false }, resolve).once('error', reject)
    outgoing.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  const json = JSON.parse(await text(response))
  return { status: response.statusCode, ...json }
}

describe('the header x-simulate', () => {
  it.each([
    ['/v1/video/generations', { prompt: 'a cat' }, { prompt: '[fail] a cat' }, 'fail'],
    ['/v1/completions', { prompt: ['a', 'b'] }, { prompt: ['[cut] a', '[cut] b'] }, '[cut]'],
    ['/v1/images/generations', { prompt: 'a' }, { prompt: '[error:500] a' }, 'error:500'],
    ['/v1/embeddings', { input: 'a' }, { input: '[hang] a' }, 'hang'],
    [
      '/v1/embeddings',
      { input: 'a' },
      { input: '[error:429] [retry-after:Mon, 30 Nov 2026 07:28:00 GMT] a' },
      'error:429, [retry-after:Mon, 30 Nov 2026 07:28:00 GMT]',
    ],
    ['/v1/responses', { input: 'a' }, { input: '[cut] a' }, 'cut'],
    [
      '/v1/responses',
      { input: [{ role: 'user', content: [] }] },
      { input: [{ role: 'user', content: [{ type: 'input_text', text: '[cut]' }] }] },
      'cut',
    ],
    [
      '/v1/messages',
      { messages: [{ role: 'user', content: 'a' }] },
      { messages: [{ role: 'user', content: '[cut] a' }] },
      'cut',
    ],
    [
      '/v1/chat/completions',
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'user', content: 'b' },
          { role: 'assistant', content: 'c' },
        ],
      },
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'user', content: '[slow:1] [cut] b' },
          { role: 'assistant', content: 'c' },
        ],
      },
      'slow:1, cut',
    ],
    [
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }] },
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: '[cut]' },
              { type: 'text', text: 'a' },
            ],
          },
        ],
      },
      'cut',
    ],
  ])('puts its words into the prompt of %s: %j', async (path, body, expected, asked) => {
    const { headers, body: sent } = await passed(path, asked, body)
    expect(JSON.parse(sent)).toStrictEqual(expected)
    expect(headers).toMatchObject({ authorization: 'Bearer k', 'content-length': String(Buffer.byteLength(sent)) })
    expect(headers).not.toHaveProperty('x-simulate')
  })

  it('adds its words as a message of the user where none is', async () => {
    const system = { role: 'system', content: 'a' }
    const { body } = await passed('/v1/chat/completions', 'error:429', { messages: [system] })
    expect(JSON.parse(body)).toStrictEqual({ messages: [system, { role: 'user', content: '[error:429]' }] })
  })

  it('leaves a request alone that has none', async () => {
    expect(await passed('/v1/embeddings', undefined, '{ "input": "a" }')).toMatchObject({ body: '{ "input": "a" }' })
  })

  const WORKS = expect.stringContaining('x-simulate works on POST of /v1/')
  it.each([
    ['/v1/video/quotes', { error: 'invalid request body', details: [{ path: 'x-simulate', message: WORKS }] }],
    ['/v1/messages/count_tokens', { type: 'error', error: { type: 'invalid_request_error', message: WORKS } }],
    ['/v1/other', { error: { type: 'invalid_request_error', message: WORKS, param: 'x-simulate' } }],
  ])('is a 400 on %s, whose response no upstream makes, in the shape of the route', async (path, body) => {
    expect(await passed(path, 'fail', {})).toMatchObject({ status: 400, ...body })
  })

  it.each([[[1, 2, 3]], [[[1], [2]]]])(
    'is a 400 for an input of token ids, %j, which has no place for words',
    async (input) => {
      expect(await passed('/v1/embeddings', 'error:429', { input })).toMatchObject({
        status: 400,
        error: { message: expect.stringContaining('needs a prompt of text, because') },
      })
    },
  )

  it('leaves a body that is no JSON to the refusal of the gateway', async () => {
    expect(await passed('/v1/embeddings', 'hang', '{')).toMatchObject({ body: '{' })
  })

  it.each([
    ['/v1/video/generations', 'fial'],
    ['/v1/video/generations', 'no-done'],
    ['/v1/chat/completions', 'moderated'],
    ['/v1/chat/completions', 'cut, error'.replace('error', 'eror')],
  ])('is a 400 on %s for %s, which no simulated upstream knows there', async (path, asked) => {
    const { status, ...body } = await passed(path, asked, {})
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('no simulated failure')])
  })

  it.each([
    ['/v1/chat/completions', 'error:200', 'error:STATUS (400 to 599), error:429:quota, error:400:context'],
    ['/v1/chat/completions', 'error', 'error:STATUS (400 to 599), error:429:quota, error:400:context'],
    ['/v1/messages', 'slow:soon', 'slow:SECONDS'],
    ['/v1/embeddings', 'cut:x', 'cut, cut:N'],
    ['/v1/responses', 'html:1', 'html'],
    ['/v1/video/generations', 'slow', 'slow:SECONDS'],
    ['/v1/video/generations', 'fail:soon', 'fail, fail:input'],
  ])('is a 400 on %s for %s, with the arguments that the word takes', async (path, asked, allowed) => {
    const { status, ...body } = await passed(path, asked, {})
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(`allowed: ${allowed}"`)])
  })

  it.each(['', ' , '])('is a 400 for %j, as of a variable that is not set', async (asked) => {
    const { status, ...body } = await passed('/v1/chat/completions', asked, {})
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('x-simulate is empty')])
  })

  it('names words that the README of the simulators explains', async () => {
    const readme = readFileSync('lib/simulators/README.md', 'utf8')
    for (const path of ['/v1/chat/completions', '/v1/video/generations']) {
      const [, list = ''] = /allowed: ([^"]+)/.exec(JSON.stringify(await passed(path, 'fial', {}))) ?? []
      const words = list.replace(' (400 to 599)', '').split(', ')
      expect(words.filter((word) => !readme.includes(`\`[${word}]\``))).toEqual([])
    }
  })

  it('is a 400 for a model with a real channel, which would get its words, and passes for other models', async () => {
    const message =
      'x-simulate needs upstreams that are simulated, and model real-model has a real one (openai-real): start the host with --simulators'
    expect(await passed('/v1/embeddings', 'hang', { model: 'real-model', input: 'a' })).toMatchObject({
      status: 400,
      error: { message: expect.stringContaining(message) },
    })
    const body = { model: 'other', input: 'a' }
    expect(await passed('/v1/embeddings', 'hang', body)).toMatchObject({ body: '{"model":"other","input":"[hang] a"}' })
  })
})
