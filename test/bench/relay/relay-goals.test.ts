import { describe, expect, it } from 'vitest'
import type { CaseMedians } from '../../../bench/relay/case-medians.ts'
import { RELAY_CASES } from '../../../bench/relay/relay-cases.ts'
import { judgeGoals } from '../../../bench/relay/relay-goals.ts'
import type { TargetName } from '../../../bench/relay/relay-targets.ts'

/** Each target exactly at its goal. */
const AT_THE_GOAL: Readonly<Record<TargetName, CaseMedians>> = {
  direct: medians({ perSecond: 9000, p99: 2, firstByte: 1 }),
  portkey: medians({ perSecond: 1000, p99: 22, firstByte: 30 }),
  priced: medians({ perSecond: 1000, p99: 12, firstByte: 6 }),
  free: medians({ perSecond: 4000, p99: 5, firstByte: 3 }),
}

function medians({ perSecond, p99, firstByte }: { perSecond: number; p99: number; firstByte: number }): CaseMedians {
  const percentiles = { p50: firstByte, p99: firstByte }
  const total = { p50: p99, p99 }
  return { perSecond, total, firstByte: percentiles, residentBytes: 0, cpuMilliseconds: 1, failures: 0 }
}

type Change = { readonly target?: TargetName; readonly medians?: Partial<CaseMedians>; readonly residentBytes?: number }

function judge({ target, medians: changed, residentBytes = 199_999_999 }: Change = {}) {
  const memory = { caseName: 'after 10,000 requests', residentBytes }
  const figuresOf = (_: string, name: TargetName) => ({ ...AT_THE_GOAL[name], ...(name === target ? changed : {}) })
  return judgeGoals(RELAY_CASES, figuresOf, memory)
}

function missed(change: Change): string[] {
  return judge(change).flatMap(({ isMet, goal, caseName }) => (isMet ? [] : [`${goal}: ${caseName}`]))
}

const BUSY = ['JSON, 16', 'JSON, 64', 'stream, 16', 'stream, 64']
const STREAMS = ['stream, 1', 'stream, 16', 'stream, 64', 'paced stream, 1', 'paced stream, 64']
const ALL = ['JSON, 1', 'JSON, 16', 'JSON, 64', 'JSON, 500 requests/s', ...STREAMS]

describe('the goals of the relay', () => {
  it('are all met exactly at the goal', () => {
    expect(judge().filter(({ isMet }) => !isMet)).toEqual([])
  })

  it.each<[string, Change, readonly string[]]>([
    ['keys + quota: at least Portkey’s requests/s', { target: 'priced', medians: { perSecond: 999 } }, BUSY],
    [
      'keys + quota: at most half of Portkey’s added p99',
      { target: 'priced', medians: { total: { p50: 1, p99: 12.01 } } },
      ALL,
    ],
    [
      'keys + quota: at most a fifth of Portkey’s time to first byte, p50',
      { target: 'priced', medians: { firstByte: { p50: 6.01, p99: 1 } } },
      STREAMS,
    ],
    ['keys + quota: less than 200 MB resident', { residentBytes: 200_000_000 }, ['after 10,000 requests']],
    ['price zero: at least 4 times Portkey’s requests/s', { target: 'free', medians: { perSecond: 3999 } }, BUSY],
    [
      'price zero: at most 2 ms added to the time to first byte, p50',
      { target: 'free', medians: { firstByte: { p50: 3.01, p99: 1 } } },
      ALL,
    ],
  ])('are missed just beyond, in every case that they are about: %s', (goal, change, cases) => {
    expect(missed(change)).toEqual(cases.map((name) => `${goal}: ${name}`))
  })

  it('take a p99 below the direct one for nothing added', () => {
    const faster = { target: 'priced', medians: { total: { p50: 1, p99: 0.5 } } } as const
    expect(judge(faster).find(({ goal }) => goal.includes('p99'))).toMatchObject({ found: '0.00 ms and 20.0 ms' })
  })
})
