import { explainFailure } from '../command-line/explain-failure.ts'

/** What one check came to. */
export type Finding = {
  /** A short name, such as `table`. */
  readonly check: string
  readonly ok: boolean
  /** What was found, one sentence. */
  readonly message: string
  /** What to do, one sentence; null when nothing is wrong. */
  readonly advice: string | null
}

/** A check finds one thing or several. */
export type Check = { readonly name: string; readonly run: () => Promise<Finding[]> }

/** All is well. */
export function fine(check: string, message: string): Finding {
  return { check, ok: true, message, advice: null }
}

/** Something is wrong. */
export function wrong(check: string, message: string, advice: string): Finding {
  return { check, ok: false, message, advice }
}

/** Runs a check; one that cannot be made is a finding too, and stops no other. */
export async function runCheck({ name, run }: Check): Promise<Finding[]> {
  try {
    return await run()
  } catch (error) {
    const reason = explainFailure(error) ?? String(error)
    return [
      wrong(name, `could not be checked: ${reason}`, 'Mend that, or the permissions of who asks, and check again.'),
    ]
  }
}
