import { describe, expect, it } from 'vitest'
import { withReportedPercent } from '#core/jobs/reported-percent.ts'

describe('the kept report of an upstream', () => {
  it('begins with the first percentage, and with its time unless the submit brought it', () => {
    expect(withReportedPercent(undefined, 30, 1000)).toEqual({ percent: 30, since: 1000 })
    expect(withReportedPercent(undefined, 0)).toEqual({ percent: 0 })
  })

  it('never decreases, and keeps the time of the first report', () => {
    const first = withReportedPercent(undefined, 30, 1000)
    expect(withReportedPercent(first, 20, 1010)).toEqual({ percent: 30, since: 1000 })
    expect(withReportedPercent(first, 40, 1010)).toEqual({ percent: 40, since: 1000 })
    expect(withReportedPercent({ percent: 0 }, 40, 1010)).toEqual({ percent: 40 })
  })
})
