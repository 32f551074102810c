import { describe, expect, it } from 'vitest'
import type { CaseMedians } from '../../../bench/relay/case-medians.ts'
import { RELAY_CASES } from '../../../bench/relay/relay-cases.ts'
import { judgeGoals } from '../../../bench/relay/relay-goals.ts'
import type { TargetName } from '../../../bench/relay/relay-targets.ts'

const MEMORY_CASE = 'after 10,000 requests'
const MEASURED = [MEMORY_CASE, ...RELAY_CASES.map(({ name }) => name)]

/** The ratio of our CPU that each case may have. */
const CPU_MAX: Readonly<Record<string, number>> = {
  'JSON, 16': 0.6,
  'JSON, 64': 0.5,
  'stream, 16': 0.55,
  'stream, 64': 0.65,
}

/** Each target exactly at its goal. */
function atTheGoal(caseName: string, target: TargetName): CaseMedians {
  const firstByte = caseName === 'stream, 16' ? 10.5 : 6
  const figures: Record<TargetName, CaseMedians> = {
    direct: medians({ perSecond: 9000, p99: 2, firstByte: 1, cpu: 0.1 }),
    portkey: medians({ perSecond: 1000, p99: 22, firstByte: 30, cpu: 1 }),
    priced: medians({ perSecond: 1000, p99: 12, firstByte, cpu: CPU_MAX[caseName] ?? 9 }),
    free: medians({ perSecond: 1800, p99: 5, firstByte: 3, cpu: 1 }),
  }
  return figures[target]
}

type Figures = { perSecond: number; p99: number; firstByte: number; cpu: number }

function medians({ perSecond, p99, firstByte, cpu }: Figures): CaseMedians {
  return {
    perSecond,
    total: { p50: p99, p99 },
    firstByte: { p50: firstByte, p99: firstByte },
    residentBytes: 199_999_999,
    cpuMilliseconds: cpu,
    engineCpuMilliseconds: 7,
    failures: 0,
  }
}

type Change = { readonly target?: TargetName; readonly change?: (figures: CaseMedians) => Partial<CaseMedians> }

function judge({ target, change = () => ({}) }: Change = {}, measured: readonly string[] = MEASURED) {
  return judgeGoals(measured, MEMORY_CASE, (caseName, name) => {
    const figures = atTheGoal(caseName, name)
    return name === target ? { ...figures, ...change(figures) } : figures
  })
}

const BUSY = ['JSON, 16', 'JSON, 64', 'stream, 16', 'stream, 64']

describe('the goals of the relay', () => {
  it('are all met exactly at the goal', () => {
    expect(judge().filter(({ isMet }) => !isMet)).toEqual([])
  })

  it.each<[string, Change, readonly string[]]>([
    [
      'keys + quota: CPU per request of our own process',
      { target: 'priced', change: ({ cpuMilliseconds }) => ({ cpuMilliseconds: cpuMilliseconds + 0.001 }) },
      BUSY,
    ],
    ['keys + quota: requests/s', { target: 'priced', change: () => ({ perSecond: 999 }) }, BUSY],
    ['price zero: requests/s', { target: 'free', change: () => ({ perSecond: 1799 }) }, BUSY],
    [
      'keys + quota: p99 above the direct one',
      { target: 'priced', change: () => ({ total: { p50: 1, p99: 12.01 } }) },
      ['JSON, 500 requests/s'],
    ],
    [
      'keys + quota: time to the first byte, p50',
      { target: 'priced', change: ({ firstByte: { p50 } }) => ({ firstByte: { p50: p50 + 0.01, p99: 1 } }) },
      ['stream, 1', 'stream, 16'],
    ],
    [
      'keys + quota: resident memory, with the table’s engine',
      { target: 'priced', change: () => ({ residentBytes: 200_000_000 }) },
      [MEMORY_CASE],
    ],
  ])('are missed just beyond, in every case that they are about: %s', (goal, change, cases) => {
    const missed = judge(change).filter(({ isMet }) => !isMet)
    expect(missed.map((result) => `${result.goal}: ${result.caseName}`)).toEqual(
      cases.map((name) => `${goal}: ${name}`),
    )
  })

  it('show the ratio beside the target, and the figures that make it', () => {
    expect(judge()[0]).toMatchObject({ figures: '0.600 ms and 1.000 ms', found: '0.60 times', target: '<= 0.60' })
  })

  it('take a p99 below the direct one for nothing added', () => {
    const faster: Change = { target: 'priced', change: () => ({ total: { p50: 1, p99: 0.5 } }) }
    expect(judge(faster).find(({ goal }) => goal.includes('p99'))).toMatchObject({ figures: '0.00 ms and 20.0 ms' })
  })

  it('are judged for the cases that were measured alone', () => {
    expect(judge({}, ['JSON, 16']).map(({ caseName }) => caseName)).toEqual(['JSON, 16', 'JSON, 16', 'JSON, 16'])
  })
})
