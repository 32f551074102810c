import { markdownTable } from '../markdown-table.ts'
import type { LedgerAudit } from '../traffic/audit-traffic.ts'
import type { Growth } from '../traffic/growth.ts'
import type { TableCounts } from '../traffic/table-proxy.ts'
import type { CheckedOutcome } from './soak-clients.ts'
import { type Downtime, listFailures, metDowntime, type TimedFailure } from './soak-failures.ts'

/** What a soak found. */
export type SoakFindings = {
  readonly minutes: number
  readonly streams: number
  readonly outcomes: readonly CheckedOutcome[]
  readonly foreign: readonly string[]
  readonly ledger: LedgerAudit
  /** Broken invariants of the ledger. */
  readonly invariants: readonly string[]
  /** Credits that are held after the last process has ended, before and after Reconcile. */
  readonly heldBefore: string
  readonly heldAfter: string
  readonly tableRequests: TableCounts
  /** What the log has of the levels ERROR and WARN. */
  readonly logged: readonly TimedFailure[]
  readonly exitCode: number | null | undefined
  /** One for each SIGKILL. */
  readonly downtimes: readonly Downtime[]
  /** When the clients began, as a time of `performance.now()`. */
  readonly began: number
  readonly growth: Growth
}

/** Growth of the resident memory above this is a leak, and so are this many more descriptors. */
const GROWTH_BYTES_MAX = 20_000_000
const MORE_DESCRIPTORS_MAX = 20

/** A process fills its memory in its first minutes: the growth of a shorter soak says nothing. */
const MEMORY_MINUTES_MIN = 10

/** A fault of the gateway itself, which no fault that a soak makes may cause. */
const INTERNAL_ERROR = 500

/** Everything that must not be, in words; empty after a good soak. */
function faultsOfSoak(findings: SoakFindings): readonly string[] {
  const { minutes, foreign, outcomes, ledger, invariants, heldAfter, exitCode, growth } = findings
  const internal = outcomes.filter(({ status }) => status === INTERNAL_ERROR).length
  const { early, late } = growth
  const hasGrown = minutes >= MEMORY_MINUTES_MIN && late.residentBytes - early.residentBytes > GROWTH_BYTES_MAX
  return [
    ...foreign,
    ...ledger.broken,
    ...invariants,
    ...(internal === 0 ? [] : [`${internal} responses of status ${INTERNAL_ERROR}`]),
    ...(heldAfter === '0' ? [] : [`${heldAfter} credits are still held`]),
    ...(exitCode === 0 ? [] : [`the gateway ended with ${exitCode}`]),
    ...(hasGrown ? ['the memory has grown'] : []),
    ...(late.descriptors - early.descriptors <= MORE_DESCRIPTORS_MAX ? [] : ['descriptors have leaked']),
  ]
}

/** Tables of the findings. */
export function renderSoak(findings: SoakFindings): string {
  const { minutes, streams, outcomes, ledger, invariants, heldBefore, heldAfter, tableRequests, downtimes, growth } =
    findings
  const failed = outcomes.flatMap((outcome) => {
    const { failure, endedAt: at } = outcome
    return failure === undefined ? [] : [{ failure, at, metDowntime: metDowntime(outcome, downtimes) }]
  })
  const others = failed.filter((each) => !each.metDowntime)
  const count = (holds: (outcome: CheckedOutcome) => boolean) => outcomes.filter(holds).length
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0)
  const faults = faultsOfSoak(findings)
  const rows = [
    ['minutes, streams at the same time', `${minutes}, ${streams}`],
    ['requests', outcomes.length],
    ['served whole', count(({ isServed }) => isServed)],
    ['clients that left', count(({ end }) => end === 'left')],
    ['SIGKILL', downtimes.length],
    ['open at a SIGKILL, or sent before the next process listened', failed.length - others.length],
    ['cut, refused or without a response otherwise', others.length],
    ['transactions, faults of the table', `${tableRequests.transactions}, ${tableRequests.faults}`],
    ['ledger rows settled, released', `${ledger.settled}, ${ledger.released}`],
    ['credits held at the end, before and after Reconcile', `${heldBefore}, ${heldAfter}`],
    ['findings of `ledger verify`', invariants.length],
    ['memory of the last process: second quarter, last quarter, peak', sizes(growth, megabytes)],
    ['descriptors: second quarter, last quarter', `${growth.early.descriptors}, ${growth.late.descriptors}`],
    ['faults', faults.length],
  ]
  const listed = (title: string, failures: readonly TimedFailure[]) =>
    failures.length === 0 ? [] : [`\n${title}:\n\n${listFailures(failures, findings.began).join('\n')}`]
  return [
    markdownTable(
      ['what', 'found'],
      rows.map((row) => row.map(String)),
    ),
    ...(faults.length === 0 ? [] : faults.slice(0, 20).map((fault) => `- fault: ${fault}`)),
    ...listed('Cut, refused or without a response otherwise', others),
    ...listed('In the log', findings.logged),
  ].join('\n')
}

function sizes({ early, late, peakBytes }: Growth, megabytes: (bytes: number) => string): string {
  return `${megabytes(early.residentBytes)}, ${megabytes(late.residentBytes)}, ${megabytes(peakBytes)} MB`
}
