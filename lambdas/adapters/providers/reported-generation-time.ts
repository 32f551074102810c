import type { VideoChannel } from '#core/catalogue/channel.ts'
import { taskViews } from './p2/p2-result.ts'
import { decimalText, firstOf, memberAt, parseJson } from './video/json-reading.ts'

/**
 * The generation time that a success reply reports, in seconds from the upstream's acceptance to the end; undefined if the
 * reply has none. The number is unchecked: it may be zero, negative or absurd.
 */
export function reportedGenerationSeconds(
  { provider }: Pick<VideoChannel, 'provider'>,
  text: string,
): number | undefined {
  const body = parseJson(text)
  switch (provider) {
    case 'p1':
      return secondsOf(memberAt(body, 'output'))
    case 'p2':
      return firstOf(taskViews(body).map(secondsOf))
    default:
      return provider satisfies never
  }
}

/** The fields of begin and end that P1, P2 and the proxies use. `updated_at` is used only if no better field for the end is present. */
const BEGIN = ['submit_time', 'created_at', 'scheduled_time']
const END = ['end_time', 'finish_time', 'completed_at', 'updated_at']

function secondsOf(view: unknown): number | undefined {
  const instantOf = (names: readonly string[]) => firstOf(names.map((name) => unixSeconds(memberAt(view, name))))
  const [begin, end] = [instantOf(BEGIN), instantOf(END)]
  return begin === undefined || end === undefined ? undefined : end - begin
}

/** Unix times above this are milliseconds. */
const MILLISECONDS_FROM = 100_000_000_000

/** P1's times name no zone, which the difference of two times does not need. */
const TIME_OF_DAY = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,9})?)/

function unixSeconds(value: unknown): number | undefined {
  const number = decimalText(value)
  if (number !== undefined) {
    return Number(number) >= MILLISECONDS_FROM ? Number(number) / 1000 : Number(number)
  }
  const match = typeof value === 'string' ? TIME_OF_DAY.exec(value) : null
  const milliseconds = match === null ? Number.NaN : Date.parse(`${match[1]}T${match[2]}Z`)
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1000
}
