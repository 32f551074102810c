import type { CaseMedians, FiguresOf } from './case-medians.ts'

/** The largest share of Portkey's CPU per request that our own process may use; the goal beyond them is 0.5 everywhere. */
const CPU_RATIO_MAX = { 'JSON, 16': 0.6, 'JSON, 64': 0.5, 'stream, 16': 0.55, 'stream, 64': 0.65 } as const

/** The smallest ratio of requests per second to Portkey's, with the table's engine on the same core. */
const SPEED_RATIO_MIN = { priced: 1, free: 1.8 } as const

/** Closed loops that show what a server can do at the most. */
const BUSY_CASES = ['JSON, 16', 'JSON, 64', 'stream, 16', 'stream, 64'] as const

/** The largest share of the time that Portkey adds to the 99th percentile of the direct requests. */
const ADDED_P99_RATIO_MAX = { 'JSON, 500 requests/s': 0.5 } as const

/** The largest share of Portkey's median time to the first byte. */
const FIRST_BYTE_RATIO_MAX = { 'stream, 1': 0.2, 'stream, 16': 0.35 } as const

const RESIDENT_BYTES_MAX = 200_000_000

const MEGABYTE = 1_000_000

/** A goal, what was found, and whether it is reached. */
export type GoalResult = {
  readonly goal: string
  readonly caseName: string
  /** Ours, then Portkey's. */
  readonly figures: string
  readonly found: string
  readonly target: string
  readonly isMet: boolean
}

/** Judges every goal at each case of those that were measured for every target. */
export function judgeGoals(measured: readonly string[], memoryCase: string, figuresOf: FiguresOf): GoalResult[] {
  const goals = [
    ...Object.entries(CPU_RATIO_MAX).map(([name, max]) => judgeCpu(name, max)),
    ...BUSY_CASES.map((name) => judgeSpeed(name, 'priced')),
    ...BUSY_CASES.map((name) => judgeSpeed(name, 'free')),
    ...Object.entries(ADDED_P99_RATIO_MAX).map(([name, max]) => judgeAddedP99(name, max)),
    ...Object.entries(FIRST_BYTE_RATIO_MAX).map(([name, max]) => judgeFirstByte(name, max)),
    judgeMemory(memoryCase),
  ]
  return goals.filter(({ caseName }) => measured.includes(caseName)).map(({ judge }) => judge(figuresOf))
}

type Goal = { readonly caseName: string; readonly judge: (figuresOf: FiguresOf) => GoalResult }

const TITLES = { priced: 'keys + quota', free: 'price zero' } as const

function judgeCpu(caseName: string, max: number): Goal {
  return ratioGoal({
    goal: 'keys + quota: CPU per request of our own process',
    caseName,
    max,
    ours: (figuresOf) => figuresOf(caseName, 'priced').cpuMilliseconds,
    theirs: (figuresOf) => figuresOf(caseName, 'portkey').cpuMilliseconds,
    show: (value) => `${value.toFixed(3)} ms`,
  })
}

function judgeSpeed(caseName: string, target: 'priced' | 'free'): Goal {
  return ratioGoal({
    goal: `${TITLES[target]}: requests/s`,
    caseName,
    min: SPEED_RATIO_MIN[target],
    ours: (figuresOf) => figuresOf(caseName, target).perSecond,
    theirs: (figuresOf) => figuresOf(caseName, 'portkey').perSecond,
    show: (value) => value.toFixed(0),
  })
}

/** A 99th percentile below the direct one adds nothing. */
function judgeAddedP99(caseName: string, max: number): Goal {
  const added = (figuresOf: FiguresOf, target: 'portkey' | 'priced') =>
    Math.max(0, p99(figuresOf(caseName, target)) - p99(figuresOf(caseName, 'direct')))
  return ratioGoal({
    goal: 'keys + quota: p99 above the direct one',
    caseName,
    max,
    ours: (figuresOf) => added(figuresOf, 'priced'),
    theirs: (figuresOf) => added(figuresOf, 'portkey'),
    show: milliseconds,
  })
}

function p99({ total }: CaseMedians): number {
  return total.p99
}

function judgeFirstByte(caseName: string, max: number): Goal {
  return ratioGoal({
    goal: 'keys + quota: time to the first byte, p50',
    caseName,
    max,
    ours: (figuresOf) => figuresOf(caseName, 'priced').firstByte.p50,
    theirs: (figuresOf) => figuresOf(caseName, 'portkey').firstByte.p50,
    show: milliseconds,
  })
}

function judgeMemory(caseName: string): Goal {
  const shown = (bytes: number) => `${(bytes / MEGABYTE).toFixed(0)} MB`
  const judge = (figuresOf: FiguresOf) => {
    const [ours, theirs] = [figuresOf(caseName, 'priced'), figuresOf(caseName, 'portkey')]
    return {
      goal: 'keys + quota: resident memory, with the table’s engine',
      caseName,
      figures: `${shown(ours.residentBytes)} and ${shown(theirs.residentBytes)}`,
      found: shown(ours.residentBytes),
      target: `< ${shown(RESIDENT_BYTES_MAX)}`,
      isMet: ours.residentBytes < RESIDENT_BYTES_MAX,
    }
  }
  return { caseName, judge }
}

type RatioGoal = {
  readonly goal: string
  readonly caseName: string
  readonly ours: (figuresOf: FiguresOf) => number
  readonly theirs: (figuresOf: FiguresOf) => number
  readonly show: (value: number) => string
} & ({ readonly max: number } | { readonly min: number })

function ratioGoal(ratioGoal: RatioGoal): Goal {
  const { goal, caseName, show } = ratioGoal
  const judge = (figuresOf: FiguresOf) => {
    const [ours, theirs] = [ratioGoal.ours(figuresOf), ratioGoal.theirs(figuresOf)]
    const [target, isMet] =
      'max' in ratioGoal
        ? [`<= ${ratioGoal.max.toFixed(2)}`, ours <= theirs * ratioGoal.max]
        : [`>= ${ratioGoal.min.toFixed(2)}`, ours >= theirs * ratioGoal.min]
    return { goal, caseName, figures: `${show(ours)} and ${show(theirs)}`, found: found(ours, theirs), target, isMet }
  }
  return { caseName, judge }
}

function found(ours: number, theirs: number): string {
  return theirs === 0 ? 'Portkey adds none' : `${(ours / theirs).toFixed(2)} times`
}

function milliseconds(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 1)} ms`
}
