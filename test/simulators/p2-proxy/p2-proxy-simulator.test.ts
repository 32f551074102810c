import { describe, expect, it } from 'vitest'
import { proxyBody, withProxy } from '../p2/p2-client.ts'
import { shapeOf } from '../shared/shape-of.ts'
import { at, call, readFixtures } from '../shared/simulator-client.ts'

const fixtures = readFixtures('p2-proxy')
const bodyOf = (name: string) => fixtures.get(name)?.body

describe('proxy poll, shape task', () => {
  it('goes from pending through processing to succeeded', async () => {
    await withProxy({}, async ({ start, poll, clock }) => {
      const taskId = await start(proxyBody('a cat'))
      const pending = await poll(taskId)
      clock.advanceSeconds(1)
      const processing = await poll(taskId)
      clock.advanceSeconds(3)
      const succeeded = await poll(taskId)
      expect(shapeOf(pending.body)).toEqual(shapeOf(bodyOf('poll_pending')))
      expect(shapeOf(processing.body)).toEqual(shapeOf(bodyOf('poll_processing')))
      expect(shapeOf(succeeded.body)).toEqual(shapeOf(bodyOf('poll_succeeded')))
      for (const member of ['usage', 'duration', 'framespersecond', 'generate_audio']) {
        expect(at(succeeded.body, member)).toEqual(at(bodyOf('poll_succeeded'), member))
      }
    })
  })

  it.each([
    ['[minimal]', 'poll_succeeded_min'],
    ['[moderated]', 'poll_failed'],
    ['[fail]', 'poll_failed_string'],
  ])('of %s ends as %s', async (prompt, name) => {
    await withProxy({}, async ({ finish }) => {
      const answer = await finish(proxyBody(prompt))
      expect(shapeOf(answer.body)).toEqual(shapeOf(bodyOf(name)))
      expect(at(answer.body, 'status')).toBe(at(bodyOf(name), 'status'))
    })
  })

  it('obeys the switches of usage and ratio', async () => {
    await withProxy({ behaviour: { omitRatio: true, floatUsage: true } }, async ({ finish }) => {
      const answer = await finish(proxyBody('a cat'))
      expect([at(answer.body, 'ratio'), at(answer.body, 'upstream_response', 'ratio')]).toEqual([undefined, undefined])
      expect(answer.text).toContain('"completion_tokens":108900.0')
    })
    await withProxy({ behaviour: { dropUsage: true, pollsPerSecond: 1 } }, async ({ finish, poll }) => {
      const answer = await finish(proxyBody('a cat'))
      expect([at(answer.body, 'usage'), at(answer.body, 'upstream_response', 'usage')]).toEqual([undefined, undefined])
      expect((await poll('any')).body).toEqual(bodyOf('err_429'))
    })
  })

  it('spoils polls as the prompt says', async () => {
    await withProxy({}, async ({ start, poll, clock }) => {
      const odd = await start(proxyBody('[odd-status]'))
      const failing = await start(proxyBody('[poll-errors]'))
      const unknown = await start(proxyBody('[unknown]'))
      clock.advanceSeconds(4)
      const seen = []
      for (let count = 0; count < 4; count += 1) {
        seen.push([at((await poll(odd)).body, 'status'), (await poll(failing)).status, (await poll(unknown)).status])
      }
      expect(seen).toEqual([...Array(3).fill(['warming_up', 500, 404]), ['succeeded', 200, 404]])
    })
  })

  it('serves what its url promises, or has none for [no-url]', async () => {
    await withProxy({}, async ({ finish, simulator }) => {
      const url = String(at((await finish(proxyBody('a cat'))).body, 'data', 0, 'url'))
      expect((await call(simulator, url)).headers.get('content-type')).toBe('video/mp4')
      expect((await finish(proxyBody('[no-url]'))).text).not.toContain('/results/')
    })
  })
})
