import { UsageError } from '../../terminal/usage-error.ts'

/** A limit of open video jobs, from 0; null for `none`. @throws UsageError for anything else. */
export function readOpenJobs(text: string): number | null {
  if (text === 'none') {
    return null
  }
  const limit = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(limit)) {
    throw new UsageError(`--open-jobs ${text}: use a whole number from 0, or none`)
  }
  return limit
}
