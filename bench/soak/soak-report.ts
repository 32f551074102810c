import { markdownTable } from '../markdown-table.ts'
import type { LedgerAudit } from '../traffic/audit-traffic.ts'
import type { Growth } from '../traffic/growth.ts'
import type { TableCounts } from '../traffic/table-proxy.ts'
import type { CheckedOutcome } from './soak-clients.ts'

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
  /** How often the log has each message of the levels ERROR and WARN. */
  readonly messages: ReadonlyMap<string, number>
  readonly exitCode: number | null | undefined
  readonly kills: number
  readonly growth: Growth
}

/** Growth of the resident memory above this is a leak, and so are this many more descriptors. */
const GROWTH_BYTES_MAX = 20_000_000
const MORE_DESCRIPTORS_MAX = 20

/** Everything that must not be, in words; empty after a good soak. */
function faultsOfSoak(findings: SoakFindings): readonly string[] {
  const { foreign, ledger, invariants, heldAfter, exitCode, growth } = findings
  const { early, late } = growth
  return [
    ...foreign,
    ...ledger.broken,
    ...invariants,
    ...(heldAfter === '0' ? [] : [`${heldAfter} credits are still held`]),
    ...(exitCode === 0 ? [] : [`the gateway ended with ${exitCode}`]),
    ...(late.residentBytes - early.residentBytes <= GROWTH_BYTES_MAX ? [] : ['the memory has grown']),
    ...(late.descriptors - early.descriptors <= MORE_DESCRIPTORS_MAX ? [] : ['descriptors have leaked']),
  ]
}

/** Tables of the findings. */
export function renderSoak(findings: SoakFindings): string {
  const { minutes, streams, outcomes, ledger, invariants, heldBefore, heldAfter, tableRequests, kills, growth } =
    findings
  const count = (holds: (outcome: CheckedOutcome) => boolean) => outcomes.filter(holds).length
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0)
  const faults = faultsOfSoak(findings)
  const rows = [
    ['minutes, streams at the same time', `${minutes}, ${streams}`],
    ['requests', outcomes.length],
    ['served whole', count(({ isServed }) => isServed)],
    ['clients that left', count(({ end }) => end === 'left')],
    ['cut, refused or without a response', count(({ isServed, end }) => !isServed && end !== 'left')],
    ['SIGKILL', kills],
    ['transactions, faults of the table', `${tableRequests.transactions}, ${tableRequests.faults}`],
    ['ledger rows settled, released', `${ledger.settled}, ${ledger.released}`],
    ['credits held at the end, before and after Reconcile', `${heldBefore}, ${heldAfter}`],
    ['findings of `ledger verify`', invariants.length],
    ['memory of the last process: second quarter, last quarter, peak', sizes(growth, megabytes)],
    ['descriptors: second quarter, last quarter', `${growth.early.descriptors}, ${growth.late.descriptors}`],
    ['faults', faults.length],
  ]
  const log = [...findings.messages].map(([message, times]) => `- ${times} x ${message}`)
  return [
    markdownTable(
      ['what', 'found'],
      rows.map((row) => row.map(String)),
    ),
    ...(faults.length === 0 ? [] : faults.slice(0, 20).map((fault) => `- fault: ${fault}`)),
    ...(log.length === 0 ? [] : [`\nIn the log:\n\n${log.join('\n')}`]),
  ].join('\n')
}

function sizes({ early, late, peakBytes }: Growth, megabytes: (bytes: number) => string): string {
  return `${megabytes(early.residentBytes)}, ${megabytes(late.residentBytes)}, ${megabytes(peakBytes)} MB`
}
