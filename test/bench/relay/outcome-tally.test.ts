import { describe, expect, it } from 'vitest'
import { OutcomeTally } from '../../../bench/relay/outcome-tally.ts'

const SPAN = { from: 1000, to: 2000 }

function outcome(dueAt: number, endedAt: number, changes: object = {}) {
  return { dueAt, endedAt, firstByteAt: endedAt - 1, status: 200, bodyBytes: 561, ...changes }
}

function tallyOf(kind: 'open' | 'closed', outcomes: readonly ReturnType<typeof outcome>[]) {
  const tally = new OutcomeTally({ kind, span: SPAN, answerBytes: 561 })
  for (const each of outcomes) {
    tally.add(each)
  }
  return tally.result()
}

describe('what is counted', () => {
  it('of a closed loop is what was answered within the span', () => {
    const outcomes = [outcome(900, 999), outcome(990, 1010), outcome(1900, 1999), outcome(1990, 2000)]
    expect(tallyOf('closed', outcomes)).toEqual({
      requests: 2,
      failures: {},
      total: { p50: 20, p99: 99 },
      firstByte: { p50: 19, p99: 98 },
    })
  })

  it('of an open loop is what was due within the span, however late its answer', () => {
    const outcomes = [outcome(999, 1010), outcome(1000, 1010), outcome(1999, 9999), outcome(2000, 2001)]
    expect(tallyOf('open', outcomes)).toEqual(
      expect.objectContaining({ requests: 2, total: { p50: 10, p99: 8000 }, failures: {} }),
    )
  })

  it('as a failure takes no part in the times', () => {
    const outcomes = [
      outcome(1000, 1001),
      outcome(1000, 1500, { status: 402 }),
      outcome(1000, 1500, { bodyBytes: 560 }),
      outcome(1000, 1500, { failure: 'ECONNRESET' }),
      outcome(1000, 1600, { failure: 'ECONNRESET' }),
    ]
    expect(tallyOf('closed', outcomes)).toEqual(
      expect.objectContaining({
        requests: 1,
        total: { p50: 1, p99: 1 },
        failures: { 'status 402': 1, '560 bytes': 1, ECONNRESET: 2 },
      }),
    )
  })

  it('as nothing at all is no measurement', () => {
    const failed = () => tallyOf('closed', [outcome(1000, 1001, { status: 500 })])
    expect(failed).toThrow('no request was answered as expected: {"status 500":1}')
  })
})
