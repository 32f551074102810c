import { describe, expect, it } from 'vitest'
import { shapeOf } from '../shared/shape-of.ts'
import { at, call, readFixtures } from '../shared/simulator-client.ts'
import { type P1Client, textToVideo, withP1 } from './p1-client.ts'

const fixtures = readFixtures('p1')
const bodyOf = (name: string) => fixtures.get(name)?.body
const withoutId = (body: unknown) => ({ ...Object(body), request_id: undefined })

describe('P1 poll', () => {
  it('goes from pending through running to succeeded', async () => {
    await withP1({ behaviour: { queueSeconds: 2, runSeconds: 10 } }, async ({ start, poll, clock }) => {
      const taskId = await start('a paper city lights up at night')
      const pending = await poll(taskId)
      clock.advanceSeconds(2)
      const running = await poll(taskId)
      clock.advanceSeconds(10)
      const succeeded = await poll(taskId)
      expect(shapeOf(pending.body)).toEqual(shapeOf(bodyOf('poll_pending')))
      expect(shapeOf(running.body)).toEqual(shapeOf(bodyOf('poll_running')))
      expect(shapeOf(succeeded.body)).toEqual(shapeOf(bodyOf('poll_succeeded_t2v')))
      expect(at(succeeded.body, 'usage')).toEqual(at(bodyOf('poll_succeeded_t2v'), 'usage'))
    })
  })

  it('writes times in UTC+8 without a zone', async () => {
    await withP1({}, async ({ start, poll }) => {
      const answer = await poll(await start('a cat'))
      expect(at(answer.body, 'output', 'submit_time')).toBe('2026-04-20 17:55:17.075')
    })
  })

  it.each([
    ['[moderated]', 'poll_failed_inspection'],
    ['[fail:input]', 'poll_failed_param'],
    ['[fail]', 'poll_failed_internal'],
  ])('of %s fails as %s', async (prompt, name) => {
    await withP1({}, async ({ finish }) => {
      const answer = await finish(prompt)
      expect(answer.status).toBe(200)
      expect(shapeOf(answer.body)).toEqual(shapeOf(bodyOf(name)))
      expect(at(answer.body, 'output', 'message')).toBe(at(bodyOf(name), 'output', 'message'))
    })
  })

  it('bills an edit for what went in and what came out', async () => {
    await withP1({ behaviour: { floatUsage: true } }, async (client) => {
      const answer = await finishBody(client, fixtures.get('submit_video_edit')?.request)
      expect(shapeOf(answer.body)).toEqual(shapeOf(bodyOf('poll_succeeded_video_edit')))
      expect(answer.text).toContain('"usage":{"duration":12.0,"input_video_duration":6.0,"output_video_duration":6.0,')
    })
  })

  it('reports 480 on the 1.1 line', async () => {
    await withP1({}, async (client) => {
      const answer = await finishBody(client, textToVideo('a cat', { resolution: '480P', ratio: '9:21', duration: 3 }))
      expect(at(answer.body, 'usage')).toEqual(at(bodyOf('poll_succeeded_480'), 'usage'))
    })
  })

  it('of an unknown id, and of a task older than a day, answers UNKNOWN with 200', async () => {
    await withP1({}, async ({ start, poll, clock }) => {
      const taskId = await start('a cat')
      clock.advanceSeconds(24 * 60 * 60)
      for (const answer of [await poll(taskId), await poll('no-such-task')]) {
        expect(answer.status).toBe(200)
        expect(shapeOf(answer.body)).toEqual(shapeOf(bodyOf('poll_unknown')))
      }
    })
  })

  it('is refused above the rate of the account and allowed again a moment later', async () => {
    await withP1({ behaviour: { pollsPerSecond: 2 } }, async ({ poll, clock }) => {
      const statuses = [await poll('a'), await poll('b'), await poll('c')].map((answer) => answer.status)
      expect(statuses).toEqual([200, 200, 429])
      clock.advanceSeconds(0.5)
      expect((await poll('d')).status).toBe(200)
      const refused = await poll('e')
      expect(withoutId(refused.body)).toEqual(withoutId(bodyOf('poll_429')))
    })
  })

  it('allows twenty a second by default', async () => {
    await withP1({}, async ({ poll }) => {
      const answers = await Promise.all(Array.from({ length: 21 }, (_, index) => poll(String(index))))
      expect(answers.filter((answer) => answer.status === 429)).toHaveLength(1)
    })
  })

  it('can leave out the ratio, the usage, or both', async () => {
    await withP1({ behaviour: { omitRatio: true } }, async ({ finish }) => {
      expect(at((await finish('a cat')).body, 'usage', 'ratio')).toBeUndefined()
    })
    await withP1({ behaviour: { dropUsage: true } }, async ({ finish }) => {
      expect(at((await finish('a cat')).body, 'usage')).toBeUndefined()
    })
  })

  it('waits under a rare word when asked to', async () => {
    await withP1({ behaviour: { statusWords: 'rare' } }, async ({ start, poll }) => {
      expect(at((await poll(await start('a cat'))).body, 'output', 'task_status')).toBe('SUSPENDED')
    })
  })

  it('lets tasks wait when all places are taken', async () => {
    await withP1(
      { behaviour: { runningTasksMax: 1, queueSeconds: 0, runSeconds: 10 } },
      async ({ start, poll, clock }) => {
        const [first, second] = [await start('a'), await start('b')]
        const statusOf = async (taskId: string) => at((await poll(taskId)).body, 'output', 'task_status')
        expect([await statusOf(first), await statusOf(second)]).toEqual(['RUNNING', 'PENDING'])
        clock.advanceSeconds(10)
        expect([await statusOf(first), await statusOf(second)]).toEqual(['SUCCEEDED', 'RUNNING'])
      },
    )
  })
})

describe('P1 cancel and list', () => {
  it('cancels a pending task', async () => {
    await withP1({}, async ({ start, poll, simulator }) => {
      const taskId = await start('a cat')
      const answer = await call(simulator, `/api/v1/tasks/${taskId}/cancel`, { method: 'POST' })
      expect([answer.status, shapeOf(answer.body)]).toEqual([200, shapeOf(bodyOf('cancel_ok'))])
      expect(shapeOf((await poll(taskId)).body)).toEqual(shapeOf(bodyOf('poll_canceled')))
    })
  })

  it('refuses to cancel a running task', async () => {
    await withP1({}, async ({ start, clock, simulator }) => {
      const taskId = await start('a cat')
      clock.advanceSeconds(2)
      const answer = await call(simulator, `/api/v1/tasks/${taskId}/cancel`, { method: 'POST' })
      expect([answer.status, withoutId(answer.body)]).toEqual([400, withoutId(bodyOf('cancel_not_pending'))])
    })
  })

  it('lists statuses without urls, by status', async () => {
    await withP1({}, async ({ start, finish, simulator }) => {
      await finish('a cat')
      await start('a dog')
      const answer = await call(simulator, '/api/v1/tasks/?page_no=1&page_size=10&status=SUCCEEDED')
      expect(shapeOf(answer.body)).toEqual(shapeOf(bodyOf('list')))
      expect(at(answer.body, 'total')).toBe(1)
      expect(answer.text).not.toContain('/results/')
    })
  })

  it('answers an unknown path with 404', async () => {
    await withP1({}, async ({ simulator }) => {
      expect((await call(simulator, '/api/v2/tasks')).status).toBe(404)
    })
  })
})

async function finishBody({ submit, poll, clock }: P1Client, body: unknown) {
  const taskId = String(at((await submit(body)).body, 'output', 'task_id'))
  clock.advanceSeconds(4)
  return poll(taskId)
}
