import { describe, expect, it } from 'vitest'
import { shapeOf } from '../shared/shape-of.ts'
import { at, call, readFixtures } from '../shared/simulator-client.ts'
import { P2_TASKS_PATH, p2Body, withP2 } from './p2-client.ts'

const fixtures = readFixtures('p2')
const bodyOf = (name: string) => fixtures.get(name)?.body
const statusOf = (body: unknown) => at(body, 'status')
const DAY_SECONDS = 24 * 60 * 60

describe('P2 places', () => {
  it('lets tasks wait as queued, and moves them up when one before them is cancelled', async () => {
    const behaviour = { runningTasksMax: 1, queueSeconds: 0, runSeconds: 10 }
    await withP2({ behaviour }, async ({ start, poll, clock, simulator }) => {
      const ids = [await start(p2Body('a')), await start(p2Body('b')), await start(p2Body('c'))]
      const statuses = () => Promise.all(ids.map(async (taskId) => statusOf((await poll(taskId)).body)))
      expect(await statuses()).toEqual(['running', 'queued', 'queued'])
      await call(simulator, `${P2_TASKS_PATH}/${ids[1]}`, { method: 'DELETE' })
      clock.advanceSeconds(10)
      expect(await statuses()).toEqual(['succeeded', 'cancelled', 'running'])
    })
  })
})

describe('P2 delete', () => {
  const remove = (simulator: Parameters<typeof call>[0], taskId: string) =>
    call(simulator, `${P2_TASKS_PATH}/${taskId}`, { method: 'DELETE' })

  it('cancels a queued task, whose record is gone a day later', async () => {
    await withP2({}, async ({ start, poll, simulator, clock }) => {
      const taskId = await start(p2Body('a cat'))
      const answer = await remove(simulator, taskId)
      expect([answer.status, answer.body]).toEqual([200, bodyOf('delete_queued')])
      expect(shapeOf((await poll(taskId)).body)).toEqual(shapeOf(bodyOf('poll_cancelled')))
      expect((await remove(simulator, taskId)).status).toBe(409)
      clock.advanceSeconds(DAY_SECONDS)
      expect((await poll(taskId)).status).toBe(404)
    })
  })

  it('refuses while the task runs', async () => {
    await withP2({}, async ({ start, clock, simulator }) => {
      const taskId = await start(p2Body('a cat'))
      clock.advanceSeconds(1)
      const answer = await remove(simulator, taskId)
      expect([answer.status, shapeOf(answer.body)]).toEqual([409, shapeOf(bodyOf('delete_running_409'))])
      expect(at(answer.body, 'error', 'code')).toBe('InvalidAction.RunningTaskDeletion')
    })
  })

  it.each(['a cat', '[fail]'])('removes the record of %s once it has ended', async (prompt) => {
    await withP2({}, async ({ start, poll, clock, simulator }) => {
      const taskId = await start(p2Body(prompt))
      clock.advanceSeconds(4)
      const answer = await remove(simulator, taskId)
      expect([answer.status, answer.body]).toEqual([200, bodyOf('delete_succeeded')])
      expect((await poll(taskId)).status).toBe(404)
      expect((await remove(simulator, taskId)).status).toBe(404)
    })
  })
})

describe('P2 list', () => {
  it('gives whole tasks, newest first, through its filters', async () => {
    await withP2({}, async ({ start, finish, simulator }) => {
      const doneId = String(at((await finish(p2Body('a cat'))).body, 'id'))
      const otherId = await start(p2Body('a dog', { model: 'famA-2-fast' }))
      const idsOf = async (query: string) => {
        const { body } = await call(simulator, `${P2_TASKS_PATH}?${query}`)
        const items = at(body, 'items')
        return Array.isArray(items) ? items.map((item) => at(item, 'id')) : undefined
      }
      const byIds = await call(simulator, `${P2_TASKS_PATH}?filter.task_ids=${doneId}&filter.task_ids=none`)
      expect(shapeOf(byIds.body)).toEqual(shapeOf(bodyOf('list')))
      expect(await idsOf('page_size=100')).toEqual([otherId, doneId])
      expect(await idsOf('page_size=1&page_num=2')).toEqual([doneId])
      expect(await idsOf('filter.status=succeeded')).toEqual([doneId])
      expect(await idsOf('filter.model=famA-2-fast')).toEqual([otherId])
      expect(await idsOf('filter.service_tier=flex')).toEqual([])
    })
  })
})
