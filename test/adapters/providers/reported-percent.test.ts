import { describe, expect, it } from 'vitest'
import { reportedPercent } from '#adapters/providers/reported-percent.ts'
import { answerText, fixtureNames, readFixture } from './upstream-fixture.ts'

/** Every recorded reply that says how far its task is. */
const PERCENT: Readonly<Record<string, number>> = {
  p2x_poll_pending: 0,
  p2x_poll_processing: 50,
  p2x_poll_succeeded: 100,
  p2x_submit: 0,
  proxy_a_poll_completed: 100,
  proxy_a_poll_failed: 0,
  proxy_a_poll_processing: 45,
  proxy_a_submit: 0,
  proxy_b_submit: 0,
  proxy_b_wrapped_failure: 100,
  proxy_b_wrapped_in_progress: 30,
  proxy_b_wrapped_not_start: 0,
  proxy_b_wrapped_success: 100,
  proxy_d_object_completed: 100,
  proxy_d_object_failed: 100,
  proxy_d_object_submit: 0,
}

const p2 = (body: unknown) => reportedPercent({ provider: 'p2' }, JSON.stringify(body))

describe('the percentage that an upstream reports', () => {
  it('is looked for in every recorded reply that has one', () => {
    const names = fixtureNames(/^(p1|p2|proxy_)/).filter((name) => answerText(readFixture(name)).includes('"progress"'))
    expect(Object.keys(PERCENT).sort()).toEqual(names)
  })

  it.each(Object.entries(PERCENT))('of %s is %s', (name, percent) => {
    expect(reportedPercent({ provider: 'p2' }, answerText(readFixture(name)))).toBe(percent)
  })

  it('may be a number, or a string with or without a sign', () => {
    expect([37, '37', '37%', ' 37 %', 37.9].map((progress) => p2({ progress }))).toEqual([37, 37, 37, 37, 37])
    expect(p2({ data: { progress: '30%' } })).toBe(30)
  })

  it('is nothing where the value is no percentage', () => {
    const values = [-1, 101, null, true, '', 'half', {}, [50], Number.MAX_VALUE, '1e1']
    expect(values.map((progress) => p2({ progress }))).toEqual(values.map(() => undefined))
    expect(reportedPercent({ provider: 'p2' }, 'no json')).toBeUndefined()
    expect(reportedPercent({ provider: 'p1' }, '{"progress":50}')).toBeUndefined()
  })
})
