import type { VideoChannel } from '#core/catalogue/channel.ts'
import { createChatCompletion } from '#routes/relayed.ts'
import { SUMMARY_UNITS } from '../../test/engines/operation-units.ts'
import { markdownTable } from '../markdown-table.ts'
import { type Assumptions, FUNCTION_SECONDS, LIMITS, type LimitName, storeSeconds } from './assumptions.ts'
import {
  CDN_PART,
  CDN_PLANS,
  type CdnLoad,
  type CostLine,
  chatLoad,
  costOfControl,
  costOfIdleMonth,
  costOfMillionChats,
  costOfMillionWebChats,
  costOfSummary,
  costOfThousandDeletes,
  costOfThousandJobs,
  costOfWatching,
  itemsOf,
  payAsYouGo,
  sumOf,
} from './costs.ts'
import { courseOf, type Demand, demandOfChats, demandOfJobs } from './demand.ts'

/** What the report is about. */
export type CapacityOptions = {
  readonly openJobs: readonly number[]
  /** Of the upstream, one channel each; `enough` takes as many as the polls need. */
  readonly accounts: number | 'enough'
  readonly channel: VideoChannel
  readonly limits: Readonly<Record<LimitName, number>>
  readonly assumptions: Assumptions
}

/** A part of the report, which a page quotes by its name. */
export type ReportSection = { readonly name: string; readonly title: string; readonly content: string }

/** Lengths of the chats that are compared. Seconds. */
export const CHAT_SECONDS = [1, 4, 30] as const
/** Memory sizes of a function, and chats at once in an environment of a Web Function, that are compared. */
const MEMORY_MEGABYTES = [256, 512, 768, 1024, 1769] as const
const AT_ONCE = [1, 8, 64] as const
/** Chats at once in the detailed bill of a Web Function, and those that the template allows. */
const DETAILED_AT_ONCE = 8
const AT_ONCE_MAX = 64
/** The memory of the relay functions of the stack. Megabytes. */
export const DEPLOYED_MEGABYTES = createChatCompletion.needs.memoryMegabytes
/** Channels of the shipped configuration. */
export const SHIPPED_CHANNELS = 5
/** Chats a second of one tenant. */
const CHATS = [1, 10, 100]

/** Cost and capacity: what jobs and chats cost, and for each number of open jobs what they ask of each limit. */
export function reportCapacity(options: CapacityOptions): readonly ReportSection[] {
  const { assumptions } = options
  const { chatSeconds } = assumptions
  const course = courseOf({ ...options, openJobs: 0 })
  const jobs = costOfThousandJobs({ ...course, assumptions })
  const asDeployed = costOfMillionChats({ chatSeconds, memoryMegabytes: DEPLOYED_MEGABYTES, assumptions })
  const jobCourse = `${course.polls.toFixed(1)} polls and ${course.openSeconds.toFixed(0)} s a job; its client asks every ${assumptions.clientPollSeconds} s; a callback.`
  const sections: readonly (readonly [name: string, title: string, content: string])[] = [
    ['assumptions', 'Assumptions', describeAssumptions(options)],
    ['jobs', 'Cost of 1,000 stored jobs', `${jobCourse}\n\n${costTable(jobs)}`],
    ['deletes', 'Cost of 1,000 deletes of stored videos', costTable(costOfThousandDeletes(), 4)],
    ['chats', 'Cost of a million chats', chatComparison(assumptions)],
    ['chats by part', `A million chats of ${chatSeconds} s as deployed`, costTable(asDeployed)],
    ['plans', 'Flat-rate plans of CloudFront', planTable(assumptions)],
    ['control', 'Cost of usage, alerts, audit and switches', costTable(costOfControl(assumptions))],
    ['idle', 'Cost of an idle month', idleTable()],
    ['watching', 'Cost of watching a busy month', costTable(costOfWatching(SHIPPED_CHANNELS))],
    ['summary', "Cost of the console's summary", summaryTable()],
    ['open jobs', 'What breaks first', fleetSection(options)],
    ['chats of one tenant', 'Chats of one tenant', chatsSection(options)],
    ['costs', 'In short', shortTable(jobs, assumptions)],
  ]
  return sections.map(([name, title, content]) => ({ name, title, content }))
}

/** A bill with its sum, the largest part first. @param digits behind the point. */
function costTable(lines: readonly CostLine[], digits = 2): string {
  const sorted = lines.toSorted((left, right) => right.dollars - left.dollars)
  const rows = sorted.map(({ part, count, dollars }) => [part, count, dollars.toFixed(digits)])
  return markdownTable(['Part', 'Of it', '$'], [...rows, ['**all**', '', sumOf(lines).toFixed(digits)]])
}

type Web = Omit<Parameters<typeof costOfMillionWebChats>[0], 'end'>

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
  const cheaper = CHAT_SECONDS.map((chatSeconds) => cheaperFrom(chatSeconds, assumptions))
  return markdownTable(
    ['$ for a million chats of', ...CHAT_SECONDS.map((each) => `${each} s`)],
    [...functions, ...web, ['Chats at once from which the whole range is below the functions as deployed', ...cheaper]],
  )
}

/** How many chats an environment must serve at once for the whole range to be below the functions as deployed. */
function cheaperFrom(chatSeconds: number, assumptions: Assumptions): string {
  const functions = lambdaDollars({ chatSeconds, assumptions, memoryMegabytes: DEPLOYED_MEGABYTES })
  const found = Array.from({ length: AT_ONCE_MAX }, (_, index) => index + 1).find(
    (atOnce) => sumOf(costOfMillionWebChats({ chatSeconds, assumptions, atOnce, end: 'high' })) < functions,
  )
  return found === undefined ? 'none' : String(found)
}

/** Dollars for a million chats behind API Gateway. */
export function lambdaDollars(served: Parameters<typeof costOfMillionChats>[0]): number {
  return sumOf(costOfMillionChats(served))
}

/** Dollars for a million chats of a Web Function, from the low end to the high one. */
function webRange(served: Web): string {
  const [low, high] = (['low', 'high'] as const).map((end) => sumOf(costOfMillionWebChats({ ...served, end })))
  return `${low?.toFixed(0)} to ${high?.toFixed(0)}`
}

const videoLoad = ({ downloads, videoMegabytes }: Assumptions): CdnLoad => ({
  requests: downloads,
  gigabytes: (downloads * videoMegabytes) / 1000,
})

/** What a plan of CloudFront includes, and what chats and videos cost when it is used up. */
function planTable(assumptions: Assumptions): string {
  const chat = { requests: 1, gigabytes: chatLoad(assumptions.chatSeconds, assumptions).gigabytes }
  const video = videoLoad(assumptions)
  const rows = CDN_PLANS.map((plan) => {
    const { name, dollarsMonth, requests, gigabytes } = plan
    const [chats, videos] = [itemsOf(plan, chat), itemsOf(plan, video)]
    const data = gigabytes >= 1000 ? `${gigabytes / 1000} TB` : `${gigabytes} GB`
    return [
      ...[name, dollarsMonth.toLocaleString('en'), `${compact(requests)}, ${data}`],
      ...[compact(chats), ((dollarsMonth / chats) * 1e6).toFixed(2)],
      ...[compact(videos), ((dollarsMonth / videos) * 1000).toFixed(3)],
    ]
  })
  const free = ['none', '0', '', '', (1e6 * payAsYouGo(chat)).toFixed(2), '', (1000 * payAsYouGo(video)).toFixed(3)]
  const head = ['Plan', '$ a month', 'Requests, data', 'Chats in it', '$ a million', 'Videos in it', '$ per 1,000']
  return markdownTable(head, [free, ...rows])
}

function compact(count: number): string {
  return count >= 1e6 ? `${Number((count / 1e6).toPrecision(3))} M` : count.toLocaleString('en')
}

/** An idle month of both profiles. */
function idleTable(): string {
  const prod = costOfIdleMonth('prod')
  const sums = [
    ['**all** in `prod`', '', sumOf(prod).toFixed(2)],
    ['**all** in `dev`', '', sumOf(costOfIdleMonth('dev')).toFixed(2)],
  ]
  const rows = prod.map(({ part, count, dollars }) => [part, count, dollars.toFixed(2)])
  return markdownTable(['Part', 'Of it', '$'], [...rows, ...sums])
}

/** The summary of the console by the number of tenants. */
function summaryTable(): string {
  const spending = ['Read, nobody spends', 'Written', 'Read, a tenth spends', 'Written']
  const rows = SUMMARY_UNITS.map((units) => {
    const { tenants, idle, busy, page } = units
    const cells = [tenants, idle.reads, idle.writes, busy.reads, busy.writes].map((value) => value.toLocaleString('en'))
    return [...cells, costOfSummary(units).toFixed(2), page]
  })
  return markdownTable(['Tenants', ...spending, '$ a month', 'Read by a page'], rows)
}

/** The table of the README. */
function shortTable(jobs: readonly CostLine[], assumptions: Assumptions): string {
  const { downloads, videoMegabytes } = assumptions
  const [prod, dev] = (['prod', 'dev'] as const).map((stage) => sumOf(costOfIdleMonth(stage)).toFixed(2))
  const watching = costOfWatching(SHIPPED_CHANNELS).map(({ part, count, dollars }) => {
    return `${dollars.toFixed(2)} for ${part === 'X-Ray' ? part : part.toLowerCase()} (${count})`
  })
  const all = sumOf(jobs)
  const delivery = sumOf(jobs.filter(({ part }) => part === CDN_PART))
  const [, pro] = CDN_PLANS
  const videos = `${(itemsOf(pro, videoLoad(assumptions)) / 1e6).toFixed(1)} million such videos`
  const functions = CHAT_SECONDS.map((chatSeconds) =>
    lambdaDollars({ chatSeconds, memoryMegabytes: DEPLOYED_MEGABYTES, assumptions }).toFixed(0),
  )
  const web = CHAT_SECONDS.map((chatSeconds) => webRange({ chatSeconds, atOnce: DETAILED_AT_ONCE, assumptions }))
  const lengths = `${CHAT_SECONDS.slice(0, -1).join(' s, ')} s and ${CHAT_SECONDS.at(-1)} s`
  const idle = `${prod} in \`prod\` (alarms, secrets, a check of the table every minute, its traces and log lines; the web ACL of \`-c waf=on\` adds 10.00); ${dev} in \`dev\``
  const plan = `${(all - delivery).toFixed(2)} beside a flat-rate plan of CloudFront (${pro.name}: ${pro.dollarsMonth} a month for ${videos})`
  return markdownTable(
    ['', '$'],
    [
      ['idle, a month', idle],
      ['watching a busy month', watching.join('; ')],
      ['1,000 video jobs', `${all.toFixed(2)} with ${downloads} downloads of ${videoMegabytes} MB each; ${plan}`],
      ['1,000 deletes', sumOf(costOfThousandDeletes()).toFixed(3)],
      [
        `a million chats of ${lengths}`,
        `${functions.join(', ')} behind API Gateway, in functions of ${DEPLOYED_MEGABYTES.toLocaleString('en')} MB`,
      ],
      [
        'the same as a Lambda Web Function',
        `${web.join(', ')} with ${DETAILED_AT_ONCE} chats at once in each process; a range, because its rates are not published`,
      ],
    ],
  )
}

/** Polls a second of one open job, a little above what the start values come to: finds how many accounts are enough. */
const POLLS_PER_OPEN_JOB = 0.06

/** What open jobs ask of each limit, also 1,000 of them with one upstream account. */
function fleetSection({ openJobs, accounts: wanted, channel, limits, assumptions }: CapacityOptions): string {
  const { requestsPerSecond } = assumptions
  const columnOf = (jobs: number, accounts: number) => {
    const course = courseOf({ channel, openJobs: jobs / accounts, assumptions })
    const title = accounts === 1 && jobs > 100 ? `${jobs.toLocaleString('en')}, one account` : jobs.toLocaleString('en')
    return {
      title,
      accounts,
      course,
      jobsPerSecond: jobs / course.openSeconds,
      demand: demandOfJobs({ openJobs: jobs, accounts, course, assumptions }),
    }
  }
  const enough = (jobs: number) => Math.max(1, Math.ceil((jobs * POLLS_PER_OPEN_JOB) / requestsPerSecond))
  const columns = [
    ...openJobs.map((jobs) => columnOf(jobs, wanted === 'enough' ? enough(jobs) : wanted)),
    columnOf(1000, 1),
  ]
  const row = (name: string, cellOf: (column: (typeof columns)[number]) => number | string) => [
    name,
    ...columns.map(cellOf),
  ]
  const fleets = [
    row('upstream accounts', ({ accounts }) => accounts),
    row('jobs a second', ({ jobsPerSecond }) => round(jobsPerSecond)),
    row('polls a second', ({ jobsPerSecond, course }) => round(jobsPerSecond * course.polls)),
    row(
      'lag in seconds, mean and 95th percentile',
      ({ course: { lag, lagP95 } }) => `${lag.toFixed(1)}, ${lagP95.toFixed(0)}`,
    ),
    row('videos ready upstream, not yet found', ({ jobsPerSecond, course }) =>
      Math.round(jobsPerSecond * course.lag).toLocaleString('en'),
    ),
  ]
  const titles = columns.map(({ title }) => title)
  const polls = columns.map(
    ({ jobsPerSecond, course, accounts }) => [jobsPerSecond * course.polls, accounts * requestsPerSecond] as const,
  )
  const demands = columns.map(({ demand }) => demand)
  const upstream = limitRow('upstream-polls', polls, 'more accounts (channels), or a higher rate from the provider')
  const table = [...limitRows(demands, limits), upstream].toSorted((left, right) => right.used - left.used)
  const head = ['Limit', 'Allowed', ...titles.map((title) => `Asked by ${title}`), 'Above 70 %: what then']
  return `${markdownTable(['Open jobs', ...titles], fleets)}\n\n${markdownTable(
    head,
    table.map(({ cells }) => cells),
  )}`
}

/** What the chats of one tenant ask of each limit. */
function chatsSection({ limits, assumptions }: CapacityOptions): string {
  const rows = limitRows(
    CHATS.map((each) => demandOfChats(each, assumptions)),
    limits,
  )
  const head = ['Limit', 'Allowed', ...CHATS.map((each) => `Asked by ${each} a second`), 'Above 70 %: what then']
  const table = rows.toSorted((left, right) => right.used - left.used).map(({ cells }) => cells)
  return `One key and one model, ${assumptions.chatSeconds} s each, on AWS.\n\n${markdownTable(head, table)}`
}

function limitRows(demands: readonly Demand[], limits: CapacityOptions['limits']) {
  const names = Object.keys(LIMITS) as LimitName[]
  return names
    .filter((name) => demands.some((demand) => demand[name] !== undefined))
    .map((name) =>
      limitRow(
        name,
        demands.map((demand) => [demand[name] ?? 0, limits[name]] as const),
        LIMITS[name][1],
      ),
    )
}

/** @param columns what is asked and allowed in each. */
function limitRow(name: string, columns: readonly (readonly [asked: number, allowed: number])[], remedy: string) {
  const shares = columns.map(([asked, allowed]) => asked / allowed)
  const used = Math.max(...shares)
  const asked = columns.map(
    ([each, allowed]) => `${round(each)} (${((100 * each) / allowed).toFixed(each < allowed / 100 ? 2 : 0)} %)`,
  )
  const allowed = new Set(columns.map(([, each]) => each))
  const shown = allowed.size === 1 ? round(columns[0]?.[1] ?? 0) : 'by accounts'
  return { used, cells: [`\`${name}\``, shown, ...asked, used > 0.7 ? remedy : ''] }
}

function round(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1)
}

/** What the figures rest on. */
function describeAssumptions({ assumptions, channel }: CapacityOptions): string {
  const { create, submit, poll } = FUNCTION_SECONDS
  return [
    `Generations: lognormal, median ${assumptions.median} s, 95th percentile ${assumptions.p95} s. Polls: the gateway's own waits`,
    `(\`lambdas/core/jobs/waits.ts\`), provider ${channel.provider}, \`requests_per_second: ${assumptions.requestsPerSecond}\` for each account.`,
    `Assumed: create ${create} s, submit ${submit} s, poll ${poll} s, store ${storeSeconds(assumptions).toFixed(1)} s for ${assumptions.videoMegabytes} MB;`,
    `each video fetched ${assumptions.downloads} times. Chats: streams of ${assumptions.eventsPerSecond} events of ${assumptions.eventBytes} bytes a second;`,
    `${assumptions.functionCpuMilliseconds} ms of CPU for a request in a function, ${assumptions.requestCpuMilliseconds} ms in a process that serves many, and ${assumptions.eventCpuMilliseconds} ms for each event.`,
    'List prices of us-east-1 without free tiers, but for one of the three free dashboards; what upstreams charge is not in it.',
  ].join(' ')
}
