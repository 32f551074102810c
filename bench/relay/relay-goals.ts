import type { CaseMedians, FiguresOf } from './case-medians.ts'
import type { RelayCase } from './relay-cases.ts'

/** What the relay is to reach beside Portkey's gateway in the same run. */
const GOALS = {
  priced: { speedRatioMin: 1, addedP99RatioMax: 0.5, firstByteRatioMax: 0.2, residentBytesMax: 200_000_000 },
  free: { speedRatioMin: 4, addedFirstByteMillisecondsMax: 2 },
} as const

/** Closed loops of at least so many connections show what a server can do at the most. */
const BUSY_CONNECTIONS_MIN = 16

const MEGABYTE = 1_000_000

/** A goal, what was found, and whether it is reached. */
export type GoalResult = {
  readonly goal: string
  readonly caseName: string
  readonly found: string
  readonly isMet: boolean
}

/** Resident memory after a number of requests, by which `priced` is judged. */
type Memory = { readonly caseName: string; readonly residentBytes: number }

/** Judges every goal at every case that it is about. */
export function judgeGoals(cases: readonly RelayCase[], figuresOf: FiguresOf, memory: Memory): GoalResult[] {
  const streams = cases.filter(({ stream }) => stream)
  const saturating = cases.filter(
    ({ plan, pace }) => plan.kind === 'closed' && plan.connections >= BUSY_CONNECTIONS_MIN && pace === 'burst',
  )
  return [
    ...saturating.map(({ name }) => judgeSpeed(name, figuresOf, 'priced')),
    ...cases.map(({ name }) => judgeAddedP99(name, figuresOf)),
    ...streams.map(({ name }) => judgeFirstByte(name, figuresOf)),
    judgeMemory(memory),
    ...saturating.map(({ name }) => judgeSpeed(name, figuresOf, 'free')),
    ...cases.map(({ name }) => judgeAddedFirstByte(name, figuresOf)),
  ]
}

const TITLES = { priced: 'keys + quota', free: 'price zero' } as const

function judgeSpeed(caseName: string, figuresOf: FiguresOf, target: 'priced' | 'free'): GoalResult {
  const ratioMin = GOALS[target].speedRatioMin
  const ours = figuresOf(caseName, target).perSecond
  const theirs = figuresOf(caseName, 'portkey').perSecond
  const ratio = ours / theirs
  return {
    goal: `${TITLES[target]}: at least ${ratioMin === 1 ? '' : `${ratioMin} times `}Portkey’s requests/s`,
    caseName,
    found: `${ours.toFixed(0)} and ${theirs.toFixed(0)}, ${ratio.toFixed(2)} times`,
    isMet: ratio >= ratioMin,
  }
}

/** A 99th percentile below the direct one adds nothing. */
function judgeAddedP99(caseName: string, figuresOf: FiguresOf): GoalResult {
  const ours = added(figuresOf, caseName, 'priced', ({ total }) => total.p99)
  const theirs = added(figuresOf, caseName, 'portkey', ({ total }) => total.p99)
  return {
    goal: `${TITLES.priced}: at most half of Portkey’s added p99`,
    caseName,
    found: `${milliseconds(ours)} and ${milliseconds(theirs)}`,
    isMet: ours <= theirs * GOALS.priced.addedP99RatioMax,
  }
}

function judgeFirstByte(caseName: string, figuresOf: FiguresOf): GoalResult {
  const ours = figuresOf(caseName, 'priced').firstByte.p50
  const theirs = figuresOf(caseName, 'portkey').firstByte.p50
  return {
    goal: `${TITLES.priced}: at most a fifth of Portkey’s time to first byte, p50`,
    caseName,
    found: `${milliseconds(ours)} and ${milliseconds(theirs)}`,
    isMet: ours <= theirs * GOALS.priced.firstByteRatioMax,
  }
}

function judgeMemory({ caseName, residentBytes }: Memory): GoalResult {
  return {
    goal: `${TITLES.priced}: less than ${GOALS.priced.residentBytesMax / MEGABYTE} MB resident`,
    caseName,
    found: `${(residentBytes / MEGABYTE).toFixed(0)} MB`,
    isMet: residentBytes < GOALS.priced.residentBytesMax,
  }
}

function judgeAddedFirstByte(caseName: string, figuresOf: FiguresOf): GoalResult {
  const ours = added(figuresOf, caseName, 'free', ({ firstByte }) => firstByte.p50)
  const millisecondsMax = GOALS.free.addedFirstByteMillisecondsMax
  return {
    goal: `${TITLES.free}: at most ${millisecondsMax} ms added to the time to first byte, p50`,
    caseName,
    found: milliseconds(ours),
    isMet: ours <= millisecondsMax,
  }
}

function added(
  figuresOf: FiguresOf,
  caseName: string,
  target: 'portkey' | 'priced' | 'free',
  figureOf: (medians: CaseMedians) => number,
): number {
  return Math.max(0, figureOf(figuresOf(caseName, target)) - figureOf(figuresOf(caseName, 'direct')))
}

function milliseconds(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 1)} ms`
}
