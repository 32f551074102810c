import { type Answer, formatTable } from '../command-line/answer.ts'
import type { Finding } from './finding.ts'

/** Findings for people and programs: a line each, with advice below, and exit code 1 if something is wrong. */
export function describeFindings(findings: readonly Finding[]): Answer {
  const isOk = findings.every(({ ok }) => ok)
  const rows = findings.flatMap(({ check, ok, message, advice }) => [
    [ok ? 'ok' : 'WRONG', check, message],
    ...(advice === null ? [] : [['', '', `-> ${advice}`]]),
  ])
  return { json: { ok: isOk, findings }, text: formatTable([], rows), isOk }
}
