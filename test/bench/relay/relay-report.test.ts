import { describe, expect, it } from 'vitest'
import type { Run } from '../../../bench/relay/case-medians.ts'
import { RELAY_CASES } from '../../../bench/relay/relay-cases.ts'
import { renderRelayReport } from '../../../bench/relay/relay-report.ts'
import { TARGETS } from '../../../bench/relay/relay-targets.ts'
import type { LoadFigures } from '../../../bench/relay/run-load.ts'

const MEMORY_CASE = 'after 10,000 requests'

function figures(round: number): LoadFigures {
  return {
    requests: 100,
    failures: round === 2 ? { ECONNRESET: 2, 'status 500': 1 } : {},
    // Ordered differently, so that the middle of one figure is not in the round of another's.
    perSecond: [1000, 3000, 2000][round - 1] ?? 0,
    total: { p50: [5, 1, 3][round - 1] ?? 0, p99: 9 },
    firstByte: { p50: 2, p99: 4 },
    residentBytes: 150_000_000,
    cpuMilliseconds: 0.5,
    engineCpuMilliseconds: 0.25,
    busy: [1, 0.5],
  }
}

const RUNS: readonly Run[] = [MEMORY_CASE, ...RELAY_CASES.map(({ name }) => name)].flatMap((caseName) =>
  TARGETS.flatMap((target) =>
    [1, 2, 3].map((round) => ({
      target,
      caseName,
      figures: figures(round),
      isUndisturbed: round > 1 || target !== 'free' || caseName !== 'JSON, 1',
    })),
  ),
)

describe('the report of the relay', () => {
  const report = renderRelayReport({
    cases: RELAY_CASES,
    targets: TARGETS,
    runs: RUNS,
    memoryCase: MEMORY_CASE,
    measuredSeconds: 5,
  })

  it('says how many rounds there were', () => {
    expect(report).toContain('Medians of 3 rounds of 5 s')
  })

  it('has the median of each figure for itself and every failure, by case and target', () => {
    expect(report).toContain('| JSON, 16 | Portkey 1.15.2 | 2000 | 3.00 | 9.00 | 2.00 | 4.00 | 150 | 0.500 |  | 3 |')
    expect(report).toContain(
      '| JSON, 16 | ours, price zero | 2000 | 3.00 | 9.00 | 2.00 | 4.00 | 150 | 0.500 | 0.250 | 3 |',
    )
    const rows = report.split('\n').filter((line) => /^\| (JSON|stream|paced stream), /.test(line))
    expect(rows).toHaveLength(RELAY_CASES.length * TARGETS.length)
  })

  it('publishes a missed target beside what was found', () => {
    expect(report).toContain(
      '| price zero: requests/s | JSON, 16 | 2000 and 2000 | 1.00 times | >= 1.80 | **missed** |',
    )
    expect(report).toContain('| after 10,000 requests | 150 MB and 150 MB | 150 MB | < 200 MB | met |')
  })

  it('says that Portkey does less, and how many runs were disturbed', () => {
    expect(report).toContain('**Portkey’s gateway checks no keys and keeps no quota.**')
    expect(report).toContain(`1 of ${RUNS.length} runs began while other work kept the machine busy.`)
  })
})
