import { type ApiTime, clockTime, unixSecondsOf } from '../core/time.ts'
import { unixSeconds } from '../state/clock.ts'
import { settings } from '../state/settings.ts'
import { useStore } from '../state/store.ts'

const HOURS_AND_MINUTES = 'hh:mm'.length

/** A local host counts the last 60 seconds; older figures are of the newest minute that CloudWatch has whole. */
const LATE_SECONDS = 120

/** Which minute some figures describe; `from` is null without figures. */
export function FiguresTime({ from: begin }: { readonly from: ApiTime | null }) {
  const { zone } = useStore(settings)
  const from = begin === null ? null : unixSecondsOf(begin)
  const time = from === null ? undefined : clockTime(from, zone).slice(0, HOURS_AND_MINUTES)
  const isLate = from !== null && unixSeconds() - from > LATE_SECONDS
  return (
    <p class="hint">
      {time === undefined
        ? 'No channel was called in the last minutes, or the figures cannot be read.'
        : `Calls, errors and times are of the minute from ${time} ${zone === 'utc' ? 'UTC' : 'local time'}${isLate ? '; CloudWatch is some minutes late' : ''}.`}
    </p>
  )
}
