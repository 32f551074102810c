import { describe, expect, it } from 'vitest'
import { shapeOf } from '../shared/shape-of.ts'
import { at, call, readFixtures } from '../shared/simulator-client.ts'
import { p2Body, withP2 } from './p2-client.ts'

const fixtures = readFixtures('p2')
const bodyOf = (name: string) => fixtures.get(name)?.body
const words = (body: unknown) => String(at(body, 'error', 'message')).replace(/ Request id: \w+$/, '')
const statusOf = (body: unknown) => at(body, 'status')
const DAY_SECONDS = 24 * 60 * 60

describe('P2 poll', () => {
  it('goes from queued through running to succeeded', async () => {
    await withP2({}, async ({ start, poll, clock }) => {
      const taskId = await start(p2Body('a cat', { seed: 58_944 }))
      const queued = await poll(taskId)
      clock.advanceSeconds(1)
      const running = await poll(taskId)
      clock.advanceSeconds(3)
      const succeeded = await poll(taskId)
      expect(shapeOf(queued.body)).toEqual(shapeOf(bodyOf('poll_queued')))
      expect(shapeOf(running.body)).toEqual(shapeOf(bodyOf('poll_running')))
      expect(shapeOf(succeeded.body)).toEqual(shapeOf(bodyOf('poll_succeeded')))
      expect([queued, running, succeeded].map((answer) => statusOf(answer.body))).toEqual([
        'queued',
        'running',
        'succeeded',
      ])
      for (const member of ['usage', 'seed', 'resolution', 'ratio', 'duration', 'framespersecond', 'generate_audio']) {
        expect(at(succeeded.body, member)).toEqual(at(bodyOf('poll_succeeded'), member))
      }
    })
  })

  it.each([
    ['poll_succeeded_silent', p2Body('a cat', { generate_audio: false })],
    ['poll_succeeded_last_frame', p2Body('a cat', { return_last_frame: true })],
    ['poll_succeeded_tools', p2Body('a cat', { tools: [{ type: 'web_search' }] })],
    ['poll_succeeded_1x', p2Body('a cat', { model: 'famA-1-pro', resolution: '480p', generate_audio: undefined })],
    ['p2i_poll_succeeded', { ...Object(fixtures.get('p2i_submit_t2v')?.request) }],
  ])('succeeds in the shape of %s', async (name, body) => {
    await withP2({}, async ({ finish }) => {
      const answer = await finish(body)
      expect(shapeOf(answer.body)).toEqual(shapeOf(bodyOf(name)))
      expect(at(answer.body, 'usage')).toEqual(at(bodyOf(name), 'usage'))
    })
  })

  it('can say that there was no error', async () => {
    await withP2({ behaviour: { nullError: true } }, async ({ finish }) => {
      expect(shapeOf((await finish(p2Body('a cat'))).body)).toEqual(shapeOf(bodyOf('poll_succeeded_error_null')))
    })
  })

  it.each([
    ['[fail]', 'poll_failed_internal'],
    ['[moderated]', 'poll_failed_video_sensitive'],
    ['[moderated:audio]', 'poll_failed_audio_policy'],
  ])('of %s fails as %s', async (prompt, name) => {
    await withP2({}, async ({ finish }) => {
      const answer = await finish(p2Body(prompt))
      expect(shapeOf(answer.body)).toEqual(shapeOf(bodyOf(name)))
      expect([at(answer.body, 'error', 'code'), words(answer.body)]).toEqual([
        at(bodyOf(name), 'error', 'code'),
        words(bodyOf(name)),
      ])
    })
  })

  it('expires a task that does not end in its time', async () => {
    await withP2({}, async ({ start, poll, clock }) => {
      const taskId = await start(p2Body('[forever]', { execution_expires_after: 3600 }))
      clock.advanceSeconds(3599)
      expect(statusOf((await poll(taskId)).body)).toBe('running')
      clock.advanceSeconds(1)
      const expired = await poll(taskId)
      expect(statusOf(expired.body)).toBe('expired')
      expect(shapeOf(expired.body)).toEqual(shapeOf(bodyOf('poll_expired')))
    })
  })

  it('knows no task after a week, none that never was, and none that is [unknown]', async () => {
    await withP2({}, async ({ start, poll, clock }) => {
      const unknownId = await start(p2Body('[unknown]'))
      const taskId = await start(p2Body('a cat'))
      expect((await poll(unknownId)).status).toBe(404)
      clock.advanceSeconds(7 * DAY_SECONDS - 1)
      expect((await poll(taskId)).status).toBe(200)
      clock.advanceSeconds(1)
      for (const answer of [await poll(taskId), await poll('cgt-none')]) {
        expect(answer.status).toBe(404)
        expect(words(answer.body)).toBe(words(bodyOf('get_404')))
      }
    })
  })

  it('spoils three polls of [odd-status] and [poll-errors]', async () => {
    await withP2({}, async ({ start, poll, clock }) => {
      const [odd, failing] = [await start(p2Body('[odd-status]')), await start(p2Body('[poll-errors]'))]
      clock.advanceSeconds(4)
      const seen = []
      for (let count = 0; count < 4; count += 1) {
        seen.push([statusOf((await poll(odd)).body), (await poll(failing)).status])
      }
      expect(seen).toEqual([...Array(3).fill(['warming_up', 500]), ['succeeded', 200]])
    })
  })

  it('has no url for [no-url] and its own tokens for [usage:N]', async () => {
    await withP2({}, async ({ finish }) => {
      expect(at((await finish(p2Body('[no-url]'))).body, 'content')).toEqual({})
      expect((await finish(p2Body('[usage:7]'))).text).toContain('"usage":{"completion_tokens":7,"total_tokens":7}')
      expect(at((await finish(p2Body('[no-usage]'))).body, 'usage')).toBeUndefined()
    })
  })

  it('obeys the switches of the whole simulator', async () => {
    const behaviour = { floatUsage: true, omitRatio: true, pollsPerSecond: 1, statusWords: 'rare' } as const
    await withP2({ behaviour }, async ({ start, poll, clock }) => {
      const taskId = await start(p2Body('a cat'))
      expect(statusOf((await poll(taskId)).body)).toBe('preparing')
      expect((await poll(taskId)).status).toBe(429)
      clock.advanceSeconds(1)
      expect(statusOf((await poll(taskId)).body)).toBe('processing')
      clock.advanceSeconds(3)
      const succeeded = await poll(taskId)
      expect(succeeded.text).toContain('"completion_tokens":108900.0')
      expect(at(succeeded.body, 'ratio')).toBeUndefined()
    })
    await withP2({ behaviour: { dropUsage: true } }, async ({ finish }) => {
      expect(at((await finish(p2Body('a cat'))).body, 'usage')).toBeUndefined()
    })
  })

  it('serves the clip and the last frame', async () => {
    await withP2({}, async ({ finish, simulator }) => {
      const answer = await finish(p2Body('a cat', { return_last_frame: true, ratio: '9:16', duration: 15 }))
      const video = await call(simulator, String(at(answer.body, 'content', 'video_url')))
      const frame = await call(simulator, String(at(answer.body, 'content', 'last_frame_url')))
      expect([video.status, video.headers.get('content-type')]).toEqual([200, 'video/mp4'])
      expect([frame.status, frame.headers.get('content-type')]).toEqual([200, 'image/png'])
    })
  })
})
