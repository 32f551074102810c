import { describe, expect, it } from '@jest/globals'
import { at, type ClientResponse, type Provider, recorded, shapeOf, useVideo } from './simulator-client.ts'

const DAY_SECONDS = 24 * 60 * 60
const P2_TASKS = '/api/v3/contents/generations/tasks'
const p2Body = (more: object) => ({ model: 'famA-2-0-260128', content: [{ type: 'text', text: 'a cat' }], ...more })

/** A body without what differs between two responses: the ids of requests. */
const words = (body: unknown) =>
  JSON.parse(JSON.stringify(body).replaceAll(/ Request id: \w+/g, ''), (name, value) =>
    name === 'request_id' ? undefined : value,
  )

/** What a response shares with a recording: status and shape. */
const expectShape = (response: ClientResponse, name: string) =>
  expect([response.status, shapeOf(response.body)]).toEqual([
    recorded(name).response.status,
    shapeOf(recorded(name).response.body),
  ])

describe('a submit', () => {
  it.each<[Provider, string]>([
    ['p1', 'p1_submit_t2v'],
    ['p1', 'p1_submit_i2v'],
    ['p1', 'p1_submit_r2v'],
    ['p1', 'p1_submit_video_edit'],
    ['p2', 'p2_submit_t2v'],
    ['p2', 'p2_submit_i2v_first_frame'],
    ['p2', 'p2_submit_multimodal'],
    ['p2', 'p2_submit_legacy_flags'],
    ['p2', 'p2i_submit_t2v'],
    ['p2-proxy', 'p2x_submit'],
  ])('to %s like %s gets the recorded shape', async (provider, name) => {
    const { submit } = await useVideo(provider)
    expectShape(await submit(recorded(name).request.body), name)
  })

  it('gets the time of P2 in its id, and the initial status of the others', async () => {
    const responses = await Promise.all(
      (['p1', 'p2', 'p2-proxy'] as const).map(async (provider) => {
        const { submit } = await useVideo(provider, { behaviour: { queueSeconds: 0 } })
        return (await submit('a cat')).body
      }),
    )
    expect(responses).toMatchObject([
      { output: { task_status: 'PENDING' } },
      { id: expect.stringMatching(/^cgt-20260420175517-[a-z0-9]{5}$/) },
      { object: 'video.generation.task', status: 'pending' },
    ])
  })

  it.each<[Provider, string, string]>([
    ['p1', '[refuse]', 'p1_err_400_param'],
    ['p1', '[refuse:moderated]', 'p1_err_400_inspection'],
    ['p1', '[refuse:download]', 'p1_err_415_download'],
    ['p1', '[unauthorized]', 'p1_err_401_key'],
    ['p1', '[arrears]', 'p1_err_400_arrearage'],
    ['p1', '[not-open]', 'p1_err_403_unpurchased'],
    ['p1', '[no-model]', 'p1_err_404_model'],
    ['p1', '[busy:always]', 'p1_err_429_rate'],
    ['p1', '[busy:quota]', 'p1_err_429_allocation'],
    ['p1', '[busy:overloaded]', 'p1_err_503'],
    ['p1', '[error:500]', 'p1_err_500'],
    ['p2', '[refuse:moderated]', 'p2_err_400_text_sensitive'],
    ['p2', '[refuse:download]', 'p2_err_400_download'],
    ['p2', '[refuse:person]', 'p2_err_400_real_person'],
    ['p2', '[unauthorized]', 'p2_err_401'],
    ['p2', '[arrears]', 'p2_err_403_overdue'],
    ['p2', '[busy:always]', 'p2_err_429_rpm'],
    ['p2', '[busy:quota]', 'p2_err_429_setlimit'],
    ['p2', '[busy:overloaded]', 'p2_err_429_overloaded'],
    ['p2', '[error:500]', 'p2_err_500'],
    ['p2-proxy', '[unauthorized]', 'p2x_err_401'],
    ['p2-proxy', '[arrears]', 'p2x_err_402'],
    ['p2-proxy', '[busy:always]', 'p2x_err_429'],
  ])('to %s with %s is refused like %s', async (provider, prompt, name) => {
    const { submit } = await useVideo(provider)
    const response = await submit(`a cat ${prompt}`)
    expect([response.status, words(response.body)]).toEqual([
      recorded(name).response.status,
      words(recorded(name).response.body),
    ])
  })

  it.each<[Provider, string, number, string]>([
    ['p1', '[refuse:person]', 400, 'DataInspectionFailed'],
    ['p2', '[refuse]', 400, 'InvalidParameter'],
    ['p2', '[not-open]', 404, 'ModelNotOpen'],
    ['p2', '[no-model]', 404, 'InvalidEndpointOrModel.NotFound'],
    ['p2', '[error:413]', 413, 'InvalidParameter'],
    ['p2', '[error:503]', 503, 'ServiceUnavailable'],
    ['p2-proxy', '[refuse]', 400, 'invalid_request_error'],
    ['p2-proxy', '[refuse:moderated]', 400, 'content_policy_violation'],
    ['p2-proxy', '[refuse:download]', 400, 'invalid_image_url'],
    ['p2-proxy', '[not-open]', 503, 'model_not_found'],
    ['p2-proxy', '[no-model]', 503, 'model_not_found'],
    ['p2-proxy', '[busy:quota]', 429, 'insufficient_quota'],
    ['p2-proxy', '[busy:overloaded]', 503, 'overloaded'],
    ['p2-proxy', '[error:500]', 500, 'server_error'],
    ['p2-proxy', '[error:503]', 503, 'model_not_found'],
  ])('to %s with %s is refused with %i %s', async (provider, prompt, status, code) => {
    const { submit } = await useVideo(provider)
    const response = await submit(prompt)
    expect([response.status, at(response.body, 'error', 'code') ?? at(response.body, 'code')]).toEqual([status, code])
  })
})

const reference = (type: string) => ({ type, url: 'https://in.example.test/a.png' })

describe('words at the end of a model id', () => {
  it.each([
    ['p1', 'famB-1.1-t2v [error:503]', 503],
    ['p1', 'famB-1.1-t2v[unauthorized]', 401],
    ['p2', 'famA-2 [error:503]', 503],
    ['p2', 'doubao-seedance-2-0-260128', 200],
    ['p2', 'ep-20260128-abcde', 200],
    ['p2-proxy', 'famA-2 [refuse]', 400],
  ] as const)('count as in a prompt: %s with %s responds %i', async (provider, model, status) => {
    const { submit, body } = await useVideo(provider)
    expect((await submit({ ...body('a cat'), model })).status).toBe(status)
  })

  it.each([
    ['a [big] cat', 401],
    ['a [slow:x] cat', 401],
    ['[slow:1] a cat', 200],
    ['[moderated] a cat', 200],
    ['[refuse] a cat', 400],
  ])('count unless the prompt has any of its own: %s responds %i', async (prompt, status) => {
    const { submit, body } = await useVideo('p1')
    expect((await submit({ ...body(prompt), model: 'famB-1.1-t2v [unauthorized]' })).status).toBe(status)
  })
})

describe('a body that a provider refuses', () => {
  it.each([
    ['a ratio on i2v', 'famB-1.1-i2v', [reference('first_frame')], { ratio: '16:9' }],
    ['an edit without a video', 'famB-1.0-video-edit', [], {}],
    ['media on t2v', 'famB-1.1-t2v', [reference('first_frame')], {}],
    ['two first frames', 'famB-1.1-i2v', Array(2).fill(reference('first_frame')), {}],
    ['no reference', 'famB-1.1-r2v', [], {}],
    ['480P on the 1.0 line', 'famB-1.0-t2v', undefined, { resolution: '480P' }],
    ['an unknown parameter', 'famB-1.1-t2v', undefined, { generate_audio: true }],
  ])('P1 refuses %s', async (_name, model, media, parameters) => {
    const { submit } = await useVideo('p1')
    const response = await submit({ model, input: { prompt: 'a cat', ...(media && { media }) }, parameters })
    expect([response.status, at(response.body, 'code')]).toEqual([400, 'InvalidParameter'])
  })

  it('P1 refuses a missing header for asynchronous mode and an unknown model', async () => {
    const { submit, body } = await useVideo('p1', { asyncHeader: 'X-Other-Async' })
    const other = { 'x-other-async': 'enable' }
    const synchronous = await submit('a cat')
    expect([synchronous.status, words(synchronous.body)]).toEqual([
      403,
      words(recorded('p1_err_403_sync').response.body),
    ])
    expect((await submit('a cat', other)).status).toBe(200)
    expect((await submit({ ...body('a cat'), model: 'famA-2' }, other)).status).toBe(404)
  })

  it.each([
    ['no model', { content: [] }, 400, 'MissingParameter'],
    ['an unknown model', p2Body({ model: 'famA-9' }), 404, 'InvalidEndpointOrModel.NotFound'],
    ['a wrong duration', p2Body({ duration: 16 }), 400, 'InvalidParameter'],
  ])('P2 refuses %s', async (_name, body, status, code) => {
    const { submit } = await useVideo('p2')
    const response = await submit(body)
    expect([response.status, at(response.body, 'error', 'code')]).toEqual([status, code])
  })

  it.each([
    ['an unknown field', { fps: 24 }, 400],
    ['ten images', { image_urls: Array(10).fill('https://in.example.test/a.png') }, 400],
    ['no prompt', { prompt: undefined }, 400],
    ['an unknown model', { model: 'famA-9' }, 503],
    ['nothing wrong', { image_urls: Array(9).fill('https://in.example.test/a.png') }, 200],
    ['a wish for sound on 1.x', { model: 'famA-1-pro', generate_audio: false }, 200],
  ])('the proxy responds to %s with %j with its status', async (_name, more, status) => {
    const { submit, body } = await useVideo('p2-proxy')
    expect((await submit({ ...body('a cat'), ...more })).status).toBe(status)
  })
})

describe('a poll', () => {
  it.each<[Provider, readonly (readonly [seconds: number, name: string])[]]>([
    [
      'p1',
      [
        [0, 'p1_poll_pending'],
        [1, 'p1_poll_running'],
        [3, 'p1_poll_succeeded_t2v'],
      ],
    ],
    [
      'p2',
      [
        [0, 'p2_poll_queued'],
        [1, 'p2_poll_running'],
        [3, 'p2_poll_succeeded'],
      ],
    ],
    [
      'p2-proxy',
      [
        [0, 'p2x_poll_pending'],
        [1, 'p2x_poll_processing'],
        [3, 'p2x_poll_succeeded'],
      ],
    ],
  ])('of %s goes through the recorded states', async (provider, states) => {
    const { begin, poll, clock, statusOf } = await useVideo(provider)
    const taskId = await begin('a cat')
    for (const [seconds, name] of states) {
      clock.advanceSeconds(seconds)
      const response = await poll(taskId)
      const { body } = recorded(name).response
      expectShape(response, name)
      expect(statusOf(response)).toBe(at(body, 'output', 'task_status') ?? at(body, 'status'))
      for (const field of ['usage', 'resolution', 'ratio', 'duration', 'framespersecond', 'generate_audio']) {
        expect(at(response.body, field)).toEqual(at(body, field))
      }
    }
  })

  it.each<[Provider, string, string]>([
    ['p1', '[moderated]', 'p1_poll_failed_inspection'],
    ['p1', '[fail:input]', 'p1_poll_failed_param'],
    ['p1', '[fail]', 'p1_poll_failed_internal'],
    ['p2', '[fail]', 'p2_poll_failed_internal'],
    ['p2', '[moderated]', 'p2_poll_failed_video_sensitive'],
    ['p2', '[moderated:audio]', 'p2_poll_failed_audio_policy'],
    ['p2-proxy', '[minimal]', 'p2x_poll_succeeded_min'],
    ['p2-proxy', '[moderated]', 'p2x_poll_failed'],
    ['p2-proxy', '[fail]', 'p2x_poll_failed_string'],
  ])('of %s for %s ends like %s', async (provider, prompt, name) => {
    const { finish } = await useVideo(provider)
    const response = await finish(prompt)
    const { body } = recorded(name).response
    expectShape(response, name)
    for (const path of [['output', 'message'], ['output', 'code'], ['error', 'code'], ['status']]) {
      expect(at(response.body, ...path)).toEqual(at(body, ...path))
    }
  })

  it.each<[Provider, string, unknown]>([
    [
      'p1',
      'p1_poll_succeeded_480',
      { model: 'famB-1.1-t2v', input: { prompt: 'a' }, parameters: { resolution: '480P', ratio: '9:21', duration: 3 } },
    ],
    ['p2', 'p2_poll_succeeded_silent', p2Body({ generate_audio: false })],
    ['p2', 'p2_poll_succeeded_1x', p2Body({ model: 'famA-1-pro', resolution: '480p' })],
    ['p2', 'p2i_poll_succeeded', recorded('p2i_submit_t2v').request.body],
  ])('of %s succeeds like %s', async (provider, name, body) => {
    const { finish } = await useVideo(provider)
    const response = await finish(body)
    expectShape(response, name)
    expect(at(response.body, 'usage')).toEqual(at(recorded(name).response.body, 'usage'))
  })

  it('of P1 bills an edit for 6 s in and 6 s out', async () => {
    const { finish } = await useVideo('p1')
    const response = await finish(recorded('p1_submit_video_edit').request.body)
    expectShape(response, 'p1_poll_succeeded_video_edit')
    expect(at(response.body, 'usage')).toMatchObject({
      duration: 12,
      input_video_duration: 6,
      output_video_duration: 6,
    })
  })

  it.each([
    [{ resolution: '480p' }, 50_638],
    [{ resolution: '1080p', duration: 15 }, 731_025],
    [{ resolution: '4k' }, 980_100],
    [{ resolution: '1080p', model: 'famA-1-pro' }, 246_840],
    [{ ratio: '5:4' }, 109_586],
  ])('of P2 reports the tokens of %j', async (more, tokens) => {
    const { finish } = await useVideo('p2')
    expect(at((await finish(p2Body(more))).body, 'usage', 'total_tokens')).toBe(tokens)
  })

  it('of P1 has times in UTC+8 without a zone, and forgets a task after a day', async () => {
    const { begin, poll, clock } = await useVideo('p1')
    const taskId = await begin('a cat')
    expect(at((await poll(taskId)).body, 'output', 'submit_time')).toBe('2026-04-20 17:55:17.075')
    clock.advanceSeconds(DAY_SECONDS)
    for (const id of [taskId, 'no-such-task']) {
      expectShape(await poll(id), 'p1_poll_unknown')
    }
  })

  it('of P2 expires a task at its limit and forgets it after a week', async () => {
    const { begin, poll, clock, statusOf } = await useVideo('p2')
    const endless = await begin('[forever]')
    clock.advanceSeconds(2 * DAY_SECONDS - 1)
    expect(statusOf(await poll(endless))).toBe('running')
    clock.advanceSeconds(1)
    expectShape(await poll(endless), 'p2_poll_expired')
    clock.advanceSeconds(5 * DAY_SECONDS - 1)
    expect((await poll(endless)).status).toBe(200)
    clock.advanceSeconds(1)
    expectShape(await poll(endless), 'p2_get_404')
  })

  it('of the proxy works below both of its paths', async () => {
    const { begin, call, poll } = await useVideo('p2-proxy')
    const taskId = await begin('a cat')
    expect((await call(`/v1/tasks/${taskId}`)).body).toEqual((await poll(taskId)).body)
  })
})

describe('a cancel', () => {
  it('of P1 ends a pending task and refuses a running one', async () => {
    const { begin, poll, clock, call } = await useVideo('p1')
    const [pending, running] = [await begin('a cat'), await begin('[queue:0]')]
    clock.advanceSeconds(0.5)
    expectShape(await call(`/api/v1/tasks/${pending}/cancel`, { method: 'POST' }), 'p1_cancel_ok')
    expectShape(await poll(pending), 'p1_poll_canceled')
    const refused = await call(`/api/v1/tasks/${running}/cancel`, { method: 'POST' })
    expect([refused.status, words(refused.body)]).toEqual([400, words(recorded('p1_cancel_not_pending').response.body)])
  })

  it('of P2 ends a queued task, whose record is gone a day later', async () => {
    const { begin, poll, clock, call } = await useVideo('p2')
    const taskId = await begin('a cat')
    const remove = () => call(`${P2_TASKS}/${taskId}`, { method: 'DELETE' })
    expectShape(await remove(), 'p2_delete_queued')
    expectShape(await poll(taskId), 'p2_poll_cancelled')
    expect((await remove()).status).toBe(409)
    clock.advanceSeconds(DAY_SECONDS)
    expect((await poll(taskId)).status).toBe(404)
  })

  it('of P2 refuses a running task and removes one that has ended', async () => {
    const { begin, poll, clock, call } = await useVideo('p2')
    const taskId = await begin('[fail]')
    const remove = () => call(`${P2_TASKS}/${taskId}`, { method: 'DELETE' })
    clock.advanceSeconds(1)
    const refused = await remove()
    expectShape(refused, 'p2_delete_running_409')
    expect(at(refused.body, 'error', 'code')).toBe('InvalidAction.RunningTaskDeletion')
    clock.advanceSeconds(3)
    expectShape(await remove(), 'p2_delete_succeeded')
    expect([(await poll(taskId)).status, (await remove()).status]).toEqual([404, 404])
  })
})
