import { type Answer, formatTable } from '../command-line/answer.ts'
import type { Finding } from './finding.ts'

/** Findings for people and programs: a line each, with advice below. Something wrong makes exit code 1, a warning does not. */
export function describeFindings(findings: readonly Finding[]): Answer {
  const isOk = findings.every(({ verdict }) => verdict !== 'wrong')
  const rows = findings.flatMap(({ check, verdict, message, advice }) => [
    [verdict === 'wrong' ? 'WRONG' : verdict, check, message],
    ...(advice === null ? [] : [['', '', `-> ${advice}`]]),
  ])
  return { json: { ok: isOk, findings }, text: formatTable([], rows), isOk }
}
