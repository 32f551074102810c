import { describe, expect, it } from 'vitest'
import { renderSoak, type SoakFindings } from '../../../bench/soak/soak-report.ts'

const good: SoakFindings = {
  minutes: 30,
  streams: 200,
  outcomes: [],
  foreign: [],
  ledger: { settled: 0, released: 0, broken: [] },
  invariants: [],
  heldBefore: '0',
  heldAfter: '0',
  tableRequests: { transactions: 0, conflicts: 0, faults: 0, lastTransactionAt: 0 },
  logged: [],
  exitCode: 0,
  downtimes: [],
  began: 0,
  growth: {
    early: { residentBytes: 180e6, descriptors: 430 },
    late: { residentBytes: 185e6, descriptors: 430 },
    peakBytes: 190e6,
  },
}

const grown = (residentBytes: number) => ({ ...good.growth, late: { ...good.growth.late, residentBytes } })

describe('renderSoak', () => {
  it.each([
    ['nothing of a good soak', good, []],
    ['a memory that has grown', { ...good, growth: grown(220e6) }, ['- fault: the memory has grown']],
    [
      'no memory of a process of a few minutes, which is still filling it',
      { ...good, minutes: 4, growth: grown(220e6) },
      [],
    ],
    ['credits that are still held', { ...good, heldAfter: '1.5' }, ['- fault: 1.5 credits are still held']],
    ['a process that did not end in order', { ...good, exitCode: 1 }, ['- fault: the gateway ended with 1']],
  ])('finds fault with %s', (_, findings, faults) => {
    const lines = renderSoak(findings).split('\n')
    expect(lines.filter((line) => line.startsWith('- fault'))).toEqual(faults)
  })
})
