import { clockTime } from '../core/time.ts'
import { settings } from '../state/settings.ts'
import { useStore } from '../state/store.ts'

const HOURS_AND_MINUTES = 'hh:mm'.length

/** Which minute some figures describe; on AWS the newest that CloudWatch has whole. `from` is in Unix seconds; null without figures. */
export function FiguresTime({ from }: { readonly from: number | null }) {
  const { zone } = useStore(settings)
  const time = from === null ? undefined : clockTime(from, zone).slice(0, HOURS_AND_MINUTES)
  return (
    <p class="hint">
      {time === undefined
        ? 'No channel was called in the last minutes, or the figures cannot be read.'
        : `Calls, errors and times are of the minute from ${time} ${zone === 'utc' ? 'UTC' : 'local time'}; CloudWatch is some minutes late.`}
    </p>
  )
}
