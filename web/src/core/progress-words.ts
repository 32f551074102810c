import { duration } from './time.ts'

type Progress = {
  /** From 0 to 100; null if nothing is known. */
  readonly percent: number | null
  readonly eta_seconds: number | null
}

/** How far an open job is, and when it usually ends, such as ` 40 %, about 12 s left`; empty if nothing is known. */
export function progressWords({ percent, eta_seconds }: Progress): string {
  const parts = [
    percent === null ? [] : [` ${Math.floor(percent)} %`],
    eta_seconds === null || eta_seconds <= 0 ? [] : [`about ${duration(eta_seconds)} left`],
  ].flat()
  return parts.join(', ')
}
