import type { VideoChannel } from '#core/catalogue/channel.ts'
import { taskViews } from './p2/p2-result.ts'
import { decimalText, firstOf, memberAt, parseJson } from './video/json-reading.ts'

const PERCENT_MAX = 100

/**
 * How far a task is, as the reply to a submit or a poll says; from 0 to 100. Proxies of P2 say it in `progress`, as a number or as `"37%"`. P1 and
 * P2's own API do not. Undefined if the reply says nothing, or something else.
 */
export function reportedPercent({ provider }: Pick<VideoChannel, 'provider'>, text: string): number | undefined {
  switch (provider) {
    case 'p1':
      return undefined
    case 'p2':
      return firstOf(taskViews(parseJson(text)).map((view) => percentOf(memberAt(view, 'progress'))))
    default:
      return provider satisfies never
  }
}

function percentOf(value: unknown): number | undefined {
  const number = decimalText(typeof value === 'string' ? value.trim().replace(/ ?%$/, '') : value)
  const percent = number === undefined ? undefined : Math.trunc(Number(number))
  return percent === undefined || percent > PERCENT_MAX ? undefined : percent
}
