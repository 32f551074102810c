import { describe, expect, it } from 'vitest'
import { eventsAfter, FIRST, positionOf } from '#core/jobs/event-position.ts'
import { jobEvents } from '#core/jobs/job-events.ts'
import { PROCESSING, SUCCEEDED } from './watched-job.ts'

const attempts = [1, 2, 10].map((attempt) => ({ at: 1100, attempt, milliseconds: 1, delivered: false }))
const events = jobEvents({ ...SUCCEEDED, callbackAttempts: attempts }, 5000)
const idsAfter = (id: string) => eventsAfter(events, positionOf(id)).map((event) => event.id)

describe('the position of an event', () => {
  it('lets a client continue behind each event that it has', () => {
    const ids = events.map(({ id }) => id)
    for (const [index, id] of ids.entries()) {
      expect(idsAfter(id)).toEqual(ids.slice(index + 1))
    }
    expect(eventsAfter(events, FIRST)).toEqual(events)
  })

  it('keeps progress from going backwards, and behind later stages', () => {
    const at = (percent: number) => jobEvents({ ...PROCESSING, upstreamPercent: { percent } }, 1010)
    const last = (percent: number, id: string) => eventsAfter(at(percent), positionOf(id)).map((event) => event.id)
    expect(last(37, 'progress:37')).toEqual([])
    expect(last(36, 'progress:37')).toEqual([])
    expect(last(38, 'progress:37')).toEqual(['progress:38'])
    expect(last(38, 'finished')).toEqual([])
    expect(idsAfter('progress:99')[0]).toBe('finished')
    expect(idsAfter('progress:100')[0]).toBe('succeeded')
  })

  it.each(['', 'unknown', 'progress:', 'progress:1e3', 'queued ', `progress:${'9'.repeat(30)}`])(
    'of %j is the begin',
    (id) => {
      expect(idsAfter(id)).toHaveLength(events.length)
    },
  )
})
