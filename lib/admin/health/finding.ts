import { explainFailure } from '../command-line/explain-failure.ts'

/** The result of one check. */
export type Finding = {
  /** A short name, such as `table`. */
  readonly check: string
  readonly ok: boolean
  /** One sentence about the state. */
  readonly message: string
  /** One sentence about what to do; null if nothing is wrong. */
  readonly advice: string | null
}

/** A check has one finding or several. */
export type Check = { readonly name: string; readonly run: () => Promise<Finding[]> }

/** A finding without a problem. */
export function fine(check: string, message: string): Finding {
  return { check, ok: true, message, advice: null }
}

/** A finding with a problem. */
export function wrong(check: string, message: string, advice: string): Finding {
  return { check, ok: false, message, advice }
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
