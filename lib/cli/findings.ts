import { explainFailure } from './failures.ts'
import { formatTable, type Output } from './output.ts'

/** The result of one check. */
export type Finding = {
  /** A short name, such as `table`. */
  readonly check: string
  /** A warning is something to know or to do that stops nothing. */
  readonly verdict: 'ok' | 'warning' | 'wrong'
  /** One sentence about the state. */
  readonly message: string
  /** What to do; null if there is nothing to do. */
  readonly advice: string | null
}

/** A check has one finding or several. */
export type Check = { readonly name: string; readonly run: () => Promise<Finding[]> }

/** A finding without a problem. */
export function fine(check: string, message: string): Finding {
  return { check, verdict: 'ok', message, advice: null }
}

/** A finding to know of, which stops nothing. */
export function warning(check: string, message: string, advice: string): Finding {
  return { check, verdict: 'warning', message, advice }
}

/** A finding with a problem. */
export function wrong(check: string, message: string, advice: string): Finding {
  return { check, verdict: 'wrong', message, advice }
}

/** Runs a check. A check that fails becomes a finding too, and the others go on. */
export async function runCheck({ name, run }: Check): Promise<Finding[]> {
  try {
    return await run()
  } catch (error) {
    const reason = explainFailure(error) ?? String(error)
    return [wrong(name, `could not be checked: ${reason}`, 'Fix the cause, or your permissions, and check again.')]
  }
}

/** Findings for people and programs: a line each, with advice below. Something wrong makes exit code 1, a warning does not. */
export function describeFindings(findings: readonly Finding[]): Output {
  const isOk = findings.every(({ verdict }) => verdict !== 'wrong')
  const rows = findings.flatMap(({ check, verdict, message, advice }) => [
    ...message
      .split('\n')
      .map((line, index) => (index === 0 ? [verdict === 'wrong' ? 'WRONG' : verdict, check, line] : ['', '', line])),
    ...(advice === null ? [] : [['', '', `-> ${advice}`]]),
  ])
  return { json: { ok: isOk, findings }, text: formatTable([], rows), isOk }
}
