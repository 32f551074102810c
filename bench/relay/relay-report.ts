import { markdownTable } from '../markdown-table.ts'
import { type FiguresOf, mediansOf, type Run } from './case-medians.ts'
import type { RelayCase } from './relay-cases.ts'
import { judgeGoals } from './relay-goals.ts'
import { TARGET_TITLES, TARGETS, type TargetName } from './relay-targets.ts'

const MEGABYTE = 1_000_000

export type RelayMeasurement = {
  readonly cases: readonly RelayCase[]
  readonly targets: readonly TargetName[]
  readonly runs: readonly Run[]
  /** The load after which memory is read; it comes first on each fresh server. */
  readonly memoryCase: string
  /** Seconds of each run. */
  readonly measuredSeconds: number
}

/** Everything that was measured, and what it means for the goals: Markdown. */
export function renderRelayReport(measurement: RelayMeasurement): string {
  const { targets, runs, memoryCase, measuredSeconds } = measurement
  const rounds = runs.filter(({ caseName, target }) => caseName === memoryCase && target === targets[0]).length
  const figuresOf = mediansOf(runs)
  const disturbed = runs.filter(({ isUndisturbed }) => !isUndisturbed).length
  return [
    `Medians of ${rounds} rounds of ${measuredSeconds} s after a warm-up, a fresh server for each target and round, all on the Node named above. The targets take turns within a case. The`,
    'server has cpu 0 for itself and its children, upstream and load share cpu 1. The upstream answers at once: 561 bytes of JSON, or',
    '20 events and `[DONE]`; paced: 10 ms apart. Number behind the case: busy connections; at 500 requests/s, on 64 sockets, a',
    'request’s time counts from when it was due. First byte: of the body. CPU is of the server’s own process; the table’s engine, which',
    'shares its processor, stands beside it. Memory is of both. Every answer was checked for its status and length.',
    `${disturbed} of ${runs.length} runs began while other work kept the machine busy.`,
    '',
    '**Portkey’s gateway checks no keys and keeps no quota.** Ours reserves and settles each request durably in the local table; at a price',
    'of zero it still checks the key, and routes.',
    '',
    figuresTable(measurement, figuresOf),
    '',
    memoryTable(measurement, figuresOf),
    ...(targets.length === TARGETS.length ? ['', goalsTable(measurement, figuresOf)] : []),
  ].join('\n')
}

function figuresTable({ cases, targets }: RelayMeasurement, figuresOf: FiguresOf): string {
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
    'table’s engine, CPU ms/request',
    'errors',
  ]
  const row = (name: string, target: TargetName) => {
    const { perSecond, total, firstByte, residentBytes, failures, ...cpu } = figuresOf(name, target)
    return [
      name,
      TARGET_TITLES[target],
      perSecond.toFixed(perSecond < 100 ? 1 : 0),
      ...[total.p50, total.p99, firstByte.p50, firstByte.p99].map((value) => value.toFixed(2)),
      (residentBytes / MEGABYTE).toFixed(0),
      cpu.cpuMilliseconds.toFixed(3),
      isOurs(target) ? cpu.engineCpuMilliseconds.toFixed(3) : '',
      failures,
    ]
  }
  return markdownTable(
    head,
    cases.flatMap(({ name }) => targets.map((target) => row(name, target))),
  )
}

/** Only our gateway has a process below it that is measured apart: the table's engine. */
function isOurs(target: TargetName): boolean {
  return target === 'priced' || target === 'free'
}

function memoryTable({ memoryCase, targets }: RelayMeasurement, figuresOf: FiguresOf): string {
  const servers = targets.filter((target) => target !== 'direct')
  const rows = servers.map((target) => {
    const { residentBytes, perSecond } = figuresOf(memoryCase, target)
    return [TARGET_TITLES[target], (residentBytes / MEGABYTE).toFixed(0), perSecond.toFixed(0)]
  })
  return markdownTable([memoryCase, 'memory MB', 'requests/s'], rows)
}

function goalsTable({ cases, memoryCase }: RelayMeasurement, figuresOf: FiguresOf): string {
  const measured = [memoryCase, ...cases.map(({ name }) => name)]
  const goals = judgeGoals(measured, memoryCase, figuresOf)
  const met = goals.filter(({ isMet }) => isMet).length
  return [
    markdownTable(
      ['goal', 'case', 'ours and Portkey’s', 'found', 'target', ''],
      goals.map(({ goal, caseName, figures, found, target, isMet }) => [
        ...[goal, caseName, figures, found, target],
        isMet ? 'met' : '**missed**',
      ]),
    ),
    '',
    `${met} of ${goals.length} met.`,
  ].join('\n')
}
