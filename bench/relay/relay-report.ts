import { markdownTable } from '../markdown-table.ts'
import { type FiguresOf, mediansOf, type Run } from './case-medians.ts'
import type { RelayCase } from './relay-cases.ts'
import { judgeGoals } from './relay-goals.ts'
import { TARGET_TITLES, TARGETS, type TargetName } from './relay-targets.ts'

const MEGABYTE = 1_000_000

export type RelayMeasurement = {
  readonly cases: readonly RelayCase[]
  readonly runs: readonly Run[]
  /** The load after which memory is read; it comes first on each fresh server. */
  readonly memoryCase: string
  readonly rounds: number
  /** Seconds of each run. */
  readonly measuredSeconds: number
}

/** Everything that was measured, and what it means for the goals: Markdown. */
export function renderRelayReport(measurement: RelayMeasurement): string {
  const { cases, runs, memoryCase, rounds, measuredSeconds } = measurement
  const figuresOf = mediansOf(runs)
  const disturbed = runs.filter(({ isUndisturbed }) => !isUndisturbed).length
  return [
    `Medians of ${rounds} rounds of ${measuredSeconds} s after a warm-up, a fresh server for each target and round, all on the Node named above. The`,
    'server has cpu 0 for itself and its children, upstream and load share cpu 1. The upstream answers at once: 561 bytes of JSON, or',
    '20 events and `[DONE]`; paced: 10 ms apart. Number behind the case: busy connections; at 500 requests/s, on 64 sockets, a',
    'request’s time counts from when it was due. First byte: of the body. Memory and CPU are of the server’s whole process tree, with',
    'ours the table’s engine among it. Every answer was checked for its status and length.',
    `${disturbed} of ${runs.length} runs began while other work kept the machine busy.`,
    '',
    '**Portkey’s gateway checks no keys and keeps no quota.** Ours reserves and settles each request durably in the local table; at a price',
    'of zero it still checks the key, and routes.',
    '',
    figuresTable(cases, figuresOf),
    '',
    memoryTable(memoryCase, figuresOf),
    '',
    goalsTable(measurement, figuresOf),
  ].join('\n')
}

function figuresTable(cases: readonly RelayCase[], figuresOf: FiguresOf): string {
  const head = [
    'case',
    'target',
    'requests/s',
    'p50 ms',
    'p99 ms',
    'first byte p50 ms',
    'first byte p99 ms',
    'memory MB',
    'CPU ms/request',
    'errors',
  ]
  const row = (name: string, target: TargetName) => {
    const { perSecond, total, firstByte, residentBytes, cpuMilliseconds, failures } = figuresOf(name, target)
    return [
      name,
      TARGET_TITLES[target],
      perSecond.toFixed(perSecond < 100 ? 1 : 0),
      ...[total.p50, total.p99, firstByte.p50, firstByte.p99].map((value) => value.toFixed(2)),
      (residentBytes / MEGABYTE).toFixed(0),
      cpuMilliseconds.toFixed(3),
      failures,
    ]
  }
  return markdownTable(
    head,
    cases.flatMap(({ name }) => TARGETS.map((target) => row(name, target))),
  )
}

function memoryTable(memoryCase: string, figuresOf: FiguresOf): string {
  const servers = TARGETS.filter((target) => target !== 'direct')
  const rows = servers.map((target) => {
    const { residentBytes, perSecond } = figuresOf(memoryCase, target)
    return [TARGET_TITLES[target], (residentBytes / MEGABYTE).toFixed(0), perSecond.toFixed(0)]
  })
  return markdownTable([memoryCase, 'memory MB', 'requests/s'], rows)
}

function goalsTable({ cases, memoryCase }: RelayMeasurement, figuresOf: FiguresOf): string {
  const memory = { caseName: memoryCase, residentBytes: figuresOf(memoryCase, 'priced').residentBytes }
  const goals = judgeGoals(cases, figuresOf, memory)
  const met = goals.filter(({ isMet }) => isMet).length
  return [
    markdownTable(
      ['target', 'case', 'found: ours, Portkey’s', ''],
      goals.map(({ goal, caseName, found, isMet }) => [goal, caseName, found, isMet ? 'met' : '**missed**']),
    ),
    '',
    `${met} of ${goals.length} met.`,
  ].join('\n')
}
