import { absoluteTime, relativeTime } from '../core/time.ts'
import { clock } from '../state/clock.ts'
import { settings } from '../state/settings.ts'
import { useStore } from '../state/store.ts'
import { Nothing } from './amount.tsx'

type TimeProps = {
  /** Unix seconds; null where a thing has not happened. */
  readonly at: number | null | undefined
  /** Whether the whole time is shown and not how long ago it was. */
  readonly isAbsolute?: boolean
}

/** A time in the zone of the settings; the absolute time is the title of a relative one. */
export function Time({ at, isAbsolute = false }: TimeProps) {
  const { zone } = useStore(settings)
  const now = useStore(clock)
  if (at === null || at === undefined) {
    return <Nothing />
  }
  const absolute = absoluteTime(at, zone)
  return (
    <time class="time" dateTime={new Date(at * 1000).toISOString()} title={absolute}>
      {isAbsolute ? absolute : relativeTime(at, now, zone)}
    </time>
  )
}
