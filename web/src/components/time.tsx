import { type ApiTime, absoluteTime, isoTime, relativeTime, unixSecondsOf } from '../core/time.ts'
import { clock } from '../state/clock.ts'
import { settings } from '../state/settings.ts'
import { useStore } from '../state/store.ts'
import { Nothing } from './amount.tsx'
import { Copyable } from './copy.tsx'

type TimeProps = {
  /** Null where a thing has not happened. */
  readonly at: ApiTime | null | undefined
  /** Whether the whole time is shown and not how long ago it was. */
  readonly isAbsolute?: boolean
}

/** A time in the zone of the settings; the absolute time is the title of a relative one. Copied in ISO 8601 of UTC, as exports have it. */
export function Time({ at, isAbsolute = false }: TimeProps) {
  const { zone } = useStore(settings)
  const now = useStore(clock)
  if (at === null || at === undefined) {
    return <Nothing />
  }
  const seconds = unixSecondsOf(at)
  const absolute = absoluteTime(seconds, zone)
  const iso = isoTime(at) ?? ''
  return (
    <Copyable value={iso} label="time">
      <time class="time" dateTime={iso} title={absolute}>
        {isAbsolute ? absolute : relativeTime(seconds, now, zone)}
      </time>
    </Copyable>
  )
}
