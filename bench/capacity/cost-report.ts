import { API_NEEDS } from '#aws/function-needs.ts'
import { SUMMARY_UNITS } from '../../test/engines/operation-units.ts'
import { markdownTable } from '../markdown-table.ts'
import type { Assumptions } from './assumptions.ts'
import { CDN_PLANS, type CdnLoad, itemsOf, payAsYouGo } from './cdn-plans.ts'
import { chatLoad, costOfMillionChats } from './chat-costs.ts'
import { type CostLine, sumOf } from './cost-line.ts'
import { costOfControl, costOfIdleMonth, costOfSummary, costOfWatching } from './month-costs.ts'
import { costOfMillionWebChats } from './web-function-costs.ts'

/** Lengths of the chats that are compared. Seconds. */
export const CHAT_SECONDS = [1, 4, 30] as const

/** Memory sizes of a function that are compared. Megabytes. */
const MEMORY_MEGABYTES = [256, 512, 768, 1024, 1769] as const

/** Chats that one environment of a Web Function serves at a time. */
const AT_ONCE = [1, 8, 64] as const

/** Chats at once that the template allows in one environment. */
const AT_ONCE_MAX = 64

/** The memory of the relay functions of the stack. Megabytes. */
export const DEPLOYED_MEGABYTES = API_NEEDS['create-chat-completion'].memoryMegabytes

/**
 * A bill with its sum, the largest part first.
 * @param digits behind the point.
 */
export function costTable(lines: readonly CostLine[], digits = 2): string {
  const sorted = lines.toSorted((left, right) => right.dollars - left.dollars)
  const rows = sorted.map(({ part, count, dollars }) => [part, count, dollars.toFixed(digits)])
  return markdownTable(['Part', 'Of it', '$'], [...rows, ['**all**', '', sumOf(lines).toFixed(digits)]])
}

/** What a million chats cost by who serves them and how long they take. */
export function chatComparison(assumptions: Assumptions): string {
  const functions = MEMORY_MEGABYTES.map((memoryMegabytes) => [
    `API Gateway + Lambda, ${memoryMegabytes.toLocaleString('en')} MB${memoryMegabytes === DEPLOYED_MEGABYTES ? ' (as deployed)' : ''}`,
    ...CHAT_SECONDS.map((chatSeconds) => lambdaDollars({ chatSeconds, memoryMegabytes, assumptions }).toFixed(0)),
  ])
  const web = AT_ONCE.map((atOnce) => [
    `CloudFront + Web Function, ${atOnce} at once`,
    ...CHAT_SECONDS.map((chatSeconds) => webRange({ chatSeconds, atOnce, assumptions })),
  ])
  const cheaper = CHAT_SECONDS.map((chatSeconds) => cheaperFrom({ chatSeconds, assumptions }))
  return markdownTable(
    ['$ for a million chats of', ...CHAT_SECONDS.map((each) => `${each} s`)],
    [...functions, ...web, ['Chats at once from which the whole range is below the functions as deployed', ...cheaper]],
  )
}

/** How many chats an environment must serve at once for the whole range to be below the functions as deployed. */
function cheaperFrom(served: Pick<WebServed, 'chatSeconds' | 'assumptions'>): string {
  const functions = lambdaDollars({ ...served, memoryMegabytes: DEPLOYED_MEGABYTES })
  const costs = (atOnce: number) => sumOf(costOfMillionWebChats({ ...served, atOnce, end: 'high' }))
  const all = Array.from({ length: AT_ONCE_MAX }, (_, index) => index + 1)
  const found = all.find((atOnce) => costs(atOnce) < functions)
  return found === undefined ? 'none' : String(found)
}

/** Dollars for a million chats behind API Gateway. */
export function lambdaDollars(served: Parameters<typeof costOfMillionChats>[0]): number {
  return sumOf(costOfMillionChats(served))
}

type WebServed = Omit<Parameters<typeof costOfMillionWebChats>[0], 'end'>

/** Dollars for a million chats of a Web Function, from the low end to the high one. */
export function webRange(served: WebServed): string {
  const [low, high] = (['low', 'high'] as const).map((end) => sumOf(costOfMillionWebChats({ ...served, end })))
  return `${low?.toFixed(0)} to ${high?.toFixed(0)}`
}

/** Both ends of the bill of a Web Function, part by part. */
export function webTable(served: WebServed): string {
  const [low, high] = (['low', 'high'] as const).map((end) => costOfMillionWebChats({ ...served, end }))
  const rows = (high ?? []).map((line, index) => [
    line.part,
    low?.[index]?.count === line.count ? line.count : `${low?.[index]?.count} to ${line.count}`,
    low?.[index]?.dollars.toFixed(2) ?? '',
    line.dollars.toFixed(2),
  ])
  const sums = [sumOf(low ?? []).toFixed(2), sumOf(high ?? []).toFixed(2)]
  return markdownTable(['Part', 'Of it', '$ low', '$ high'], [...rows, ['**all**', '', ...sums]])
}

/** What a plan of CloudFront includes, and what chats and videos cost when it is used up. */
export function planTable(assumptions: Assumptions): string {
  const { videoMegabytes, downloads, chatSeconds } = assumptions
  const chat = { requests: 1, gigabytes: chatLoad(chatSeconds, assumptions).gigabytes }
  const video = { requests: downloads, gigabytes: (downloads * videoMegabytes) / 1000 }
  const each = (dollars: number, items: number) => (items === 0 ? '' : dollars / items)
  const cells = (load: CdnLoad, per: number, digits: number) =>
    CDN_PLANS.map((plan) => {
      const items = itemsOf(plan, load)
      return [compact(items), Number(each(plan.dollarsMonth, items / per)).toFixed(digits)]
    })
  const [chats, videos] = [cells(chat, 1e6, 2), cells(video, 1000, 3)]
  const rows = CDN_PLANS.map(({ name, dollarsMonth, requests, gigabytes }, index) => [
    name,
    dollarsMonth.toLocaleString('en'),
    `${compact(requests)}, ${gigabytes >= 1000 ? `${gigabytes / 1000} TB` : `${gigabytes} GB`}`,
    ...(chats[index] ?? []),
    ...(videos[index] ?? []),
  ])
  const free = ['none', '0', '', '', (1e6 * payAsYouGo(chat)).toFixed(2), '', (1000 * payAsYouGo(video)).toFixed(3)]
  const head = ['Plan', '$ a month', 'Requests, data', 'Chats in it', '$ a million', 'Videos in it', '$ per 1,000']
  return markdownTable(head, [free, ...rows])
}

function compact(count: number): string {
  return count >= 1e6 ? `${Number((count / 1e6).toPrecision(3))} M` : count.toLocaleString('en')
}

/** A month of counting, alerts, audit and switches. */
export function controlTable(assumptions: Assumptions): string {
  return costTable(costOfControl(assumptions))
}

/** Channels of the shipped configuration. */
export const SHIPPED_CHANNELS = 5

/** A month of watching a busy stage. */
export function watchingTable(): string {
  return costTable(costOfWatching(SHIPPED_CHANNELS))
}

/** An idle month of both profiles. */
export function idleTable(): string {
  const prod = costOfIdleMonth('prod')
  const rows = prod.map(({ part, count, dollars }) => [part, count, dollars.toFixed(2)])
  const sums = [
    ['**all** in `prod`', '', sumOf(prod).toFixed(2)],
    ['**all** in `dev`', '', sumOf(costOfIdleMonth('dev')).toFixed(2)],
  ]
  return markdownTable(['Part', 'Of it', '$'], [...rows, ...sums])
}

/** The summary of the console by the number of tenants. */
export function summaryTable(): string {
  const head = [
    'Tenants',
    'Read, nobody spends',
    'Written',
    'Read, a tenth spends',
    'Written',
    '$ a month',
    'Read by a page',
  ]
  const rows = SUMMARY_UNITS.map(({ tenants, idle, busy, page, ...rest }) => [
    tenants.toLocaleString('en'),
    idle.reads.toLocaleString('en'),
    idle.writes,
    busy.reads.toLocaleString('en'),
    busy.writes,
    costOfSummary({ tenants, idle, busy, page, ...rest }).toFixed(2),
    page,
  ])
  return markdownTable(head, rows)
}
