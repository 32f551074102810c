import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reportedGenerationSeconds } from '#adapters/providers/reported-generation-time.ts'
import { answerText, fixtureNames, readFixture } from './upstream-fixture.ts'

/** Every recorded success answer; undefined where the upstream says no times. */
const SECONDS: Readonly<Record<string, number | undefined>> = {
  p1_poll_succeeded_480: 79.583,
  p1_poll_succeeded_t2v: 79.583,
  p1_poll_succeeded_video_edit: 79.583,
  p2_poll_succeeded: 100,
  p2_poll_succeeded_1x: 100,
  p2_poll_succeeded_error_null: 100,
  p2_poll_succeeded_last_frame: 100,
  p2_poll_succeeded_silent: 100,
  p2_poll_succeeded_tools: 100,
  p2i_poll_succeeded: 100,
  p2x_poll_succeeded: 100,
  p2x_poll_succeeded_min: undefined,
  proxy_a_poll_completed: undefined,
  proxy_b_poll_completed: undefined,
  proxy_b_wrapped_success: 100,
  proxy_c_poll_completed: undefined,
  proxy_d_object_completed: 100,
  proxy_d_poll_succeeded: 100,
}

const P1 = { provider: 'p1' } as const
const P2 = { provider: 'p2' } as const
const read = (name: string) =>
  reportedGenerationSeconds(name.startsWith('p1_') ? P1 : P2, answerText(readFixture(name)))
const p1 = (output: unknown) => reportedGenerationSeconds(P1, JSON.stringify({ output }))
const p2 = (body: unknown) => reportedGenerationSeconds(P2, JSON.stringify(body))

describe('the generation time that an upstream reports', () => {
  it('is looked for in every recorded success answer', () => {
    expect(Object.keys(SECONDS).sort()).toEqual(
      fixtureNames(/^(p1|p2|p2i|p2x|proxy_.)_.*(?<!delete_)(succeeded|success|completed)/),
    )
  })

  it.each(Object.entries(SECONDS))('of %s is %s', (name, seconds) => {
    expect(read(name)).toEqual(seconds === undefined ? undefined : expect.closeTo(seconds, 3))
  })

  it('counts from the schedule where the submit is not named', () => {
    expect(p1({ scheduled_time: '2026-04-20 23:59:50.500', end_time: '2026-04-21 00:00:10.250' })).toBeCloseTo(19.75)
  })

  it('may be unix times in seconds, milliseconds or digits, or times with a zone', () => {
    expect(p2({ created_at: '1776678917', updated_at: 1_776_679_017 })).toBe(100)
    expect(p2({ created_at: 1_776_678_917_250, completed_at: 1_776_679_017_250 })).toBe(100)
    expect(p2({ created_at: '2026-04-20T17:55:17+08:00', completed_at: '2026-04-20T17:56:57+08:00' })).toBe(100)
  })

  it('prefers the end that a task names over its last change', () => {
    expect(p2({ created_at: 1000, updated_at: 5000, completed_at: 1100 })).toBe(100)
  })

  it('is nothing where begin or end are missing or no times', () => {
    expect(p1({ submit_time: '2026-04-20 17:55:17' })).toBeUndefined()
    expect(p1({ submit_time: 'yesterday', end_time: '2026-99-99 17:55:17' })).toBeUndefined()
    expect(p2({ created_at: -1, updated_at: null })).toBeUndefined()
    expect(p2([])).toBeUndefined()
    expect(reportedGenerationSeconds(P1, 'not json')).toBeUndefined()
  })

  it('never fails, whatever the answer holds', () => {
    const instants = fc.oneof(fc.string(), fc.integer(), fc.double(), fc.constant(null), fc.object())
    const views = fc.dictionary(fc.constantFrom('submit_time', 'created_at', 'end_time', 'updated_at'), instants)
    fc.assert(
      fc.property(views, (view) => {
        for (const seconds of [p1(view), p2(view), p2({ data: view })]) {
          expect(seconds === undefined || typeof seconds === 'number').toBe(true)
        }
      }),
    )
  })
})
