import { markdownTable } from '../markdown-table.ts'
import { type Assumptions, FUNCTION_SECONDS, storeSeconds } from './assumptions.ts'
import { CDN_PLANS, itemsOf } from './cdn-plans.ts'
import { costOfMillionChats } from './chat-costs.ts'
import { sumOf } from './cost-line.ts'
import {
  CHAT_SECONDS,
  chatComparison,
  controlTable,
  costTable,
  DEPLOYED_MEGABYTES,
  idleTable,
  lambdaDollars,
  planTable,
  SHIPPED_CHANNELS,
  summaryTable,
  watchingTable,
  webRange,
  webTable,
} from './cost-report.ts'
import { chatsSection, type FleetOptions, fleetSection, SEED } from './fleet-report.ts'
import { CDN_PART, costOfThousandDeletes, costOfThousandJobs } from './job-costs.ts'
import { costOfIdleMonth, costOfWatching } from './month-costs.ts'
import { simulateFleet } from './simulate-fleet.ts'

export type CapacityOptions = FleetOptions & {
  readonly openJobs: readonly number[]
  readonly progress: (line: string) => void
}

/** A part of the report, which a page quotes by its name. */
export type ReportSection = {
  readonly name: string
  readonly title: string
  /** Markdown. */
  readonly content: string
}

/** Chats that one environment serves at a time in the detailed bill of a Web Function. */
const DETAILED_AT_ONCE = 8

/** Cost and capacity: what jobs and chats cost, and for each size of fleet what it asks of each limit. */
export function reportCapacity(options: CapacityOptions): readonly ReportSection[] {
  const { progress, openJobs, assumptions } = options
  const fleets = openJobs.map((jobs) => {
    progress(`${jobs} open jobs`)
    return section(`${jobs} open jobs`, `${jobs.toLocaleString('en')} open jobs`, fleetSection(jobs, options))
  })
  progress('one account')
  return [
    section('assumptions', 'Assumptions', describeAssumptions(options)),
    ...costSections(options),
    ...fleets,
    section('one account', '1,000 open jobs with one account', fleetSection(1000, { ...options, accounts: 1 })),
    section('chats of one tenant', 'Chats of one tenant', chatsSection(options)),
    section('costs', 'In short', shortTable(options, assumptions)),
  ]
}

function costSections(options: CapacityOptions): readonly ReportSection[] {
  const { assumptions } = options
  const { chatSeconds } = assumptions
  const { polls, openSeconds } = courseOf(options)
  const jobs = `${polls.toFixed(1)} polls and ${openSeconds.toFixed(0)} s a job; its client asks every ${assumptions.clientPollSeconds} s; a callback.`
  const served = { chatSeconds, memoryMegabytes: DEPLOYED_MEGABYTES, assumptions }
  const web = { chatSeconds, atOnce: DETAILED_AT_ONCE, assumptions }
  return [
    section(
      'jobs',
      'Cost of 1,000 stored jobs',
      `${jobs}\n\n${costTable(costOfThousandJobs({ polls, openSeconds, assumptions }))}`,
    ),
    section('deletes', 'Cost of 1,000 deletes of stored videos', costTable(costOfThousandDeletes(), 4)),
    section('chats', 'Cost of a million chats', chatComparison(assumptions)),
    section('chats by part', `A million chats of ${chatSeconds} s as deployed`, costTable(costOfMillionChats(served))),
    section(
      'web function by part',
      `A million chats of ${chatSeconds} s as a Web Function, ${DETAILED_AT_ONCE} at once`,
      webTable(web),
    ),
    section('plans', 'Flat-rate plans of CloudFront', planTable(assumptions)),
    section('control', 'Cost of usage, alerts, audit and switches', controlTable(assumptions)),
    section('idle', 'Cost of an idle month', idleTable()),
    section('watching', 'Cost of watching a busy month', watchingTable()),
    section('summary', "Cost of the console's summary", summaryTable()),
  ]
}

function section(name: string, title: string, content: string): ReportSection {
  return { name, title, content }
}

/** What one job goes through when nothing is scarce: means of a fleet without any bound on polls. */
function courseOf({ channel, law }: CapacityOptions): { readonly polls: number; readonly openSeconds: number } {
  const free = { ...channel, poll: { ...channel.poll, requests_per_second: undefined } }
  const rates = simulateFleet({ openJobs: 1000, accounts: 1, channel: free, law, windowSeconds: 300, seed: SEED })
  return { openSeconds: 1000 / rates.jobs, polls: rates.polls / rates.jobs }
}

/** The table of the README. */
function shortTable(options: CapacityOptions, assumptions: Assumptions): string {
  const jobs = costOfThousandJobs({ ...courseOf(options), assumptions })
  const all = sumOf(jobs)
  const delivery = sumOf(jobs.filter(({ part }) => part === CDN_PART))
  const memory = DEPLOYED_MEGABYTES.toLocaleString('en')
  const [prod, dev] = (['prod', 'dev'] as const).map((stage) => sumOf(costOfIdleMonth(stage)).toFixed(2))
  const functions = CHAT_SECONDS.map((chatSeconds) =>
    lambdaDollars({ chatSeconds, memoryMegabytes: DEPLOYED_MEGABYTES, assumptions }).toFixed(0),
  )
  const web = CHAT_SECONDS.map((chatSeconds) => webRange({ chatSeconds, atOnce: DETAILED_AT_ONCE, assumptions }))
  const [plan] = CDN_PLANS.filter(({ dollarsMonth }) => dollarsMonth > 0)
  const video = {
    requests: assumptions.downloads,
    gigabytes: (assumptions.downloads * assumptions.videoMegabytes) / 1000,
  }
  const videos = plan === undefined ? 0 : itemsOf(plan, video)
  const lengths = `${CHAT_SECONDS.slice(0, -1).join(' s, ')} s and ${CHAT_SECONDS.at(-1)} s`
  return markdownTable(
    ['', '$'],
    [
      [
        'idle, a month',
        `${prod} in \`prod\` (alarms, secrets, a check of the table every minute, its traces and log lines; the web ACL of \`-c waf=on\` adds 10.00); ${dev} in \`dev\``,
      ],
      [
        'watching a busy month',
        costOfWatching(SHIPPED_CHANNELS)
          .map(
            ({ part, count, dollars }) =>
              `${dollars.toFixed(2)} for ${part === 'X-Ray' ? part : part.toLowerCase()} (${count})`,
          )
          .join('; '),
      ],
      [
        '1,000 video jobs',
        `${all.toFixed(2)} with ${assumptions.downloads} downloads of ${assumptions.videoMegabytes} MB each; ${(all - delivery).toFixed(2)} beside a flat-rate plan of CloudFront (${plan?.name}: ${plan?.dollarsMonth} a month for ${(videos / 1e6).toFixed(1)} million such videos)`,
      ],
      ['1,000 deletes', sumOf(costOfThousandDeletes()).toFixed(3)],
      [`a million chats of ${lengths}`, `${functions.join(', ')} behind API Gateway, in functions of ${memory} MB`],
      [
        'the same as a Lambda Web Function',
        `${web.join(', ')} with ${DETAILED_AT_ONCE} chats at once in each process; a range, because its rates are not published`,
      ],
    ],
  )
}

/** What the figures rest on. */
function describeAssumptions({ assumptions, channel, law }: CapacityOptions): string {
  const { create, submit, poll } = FUNCTION_SECONDS
  return [
    `Generations: lognormal, median ${law.median} s, 95th percentile ${law.p95} s. Polls: the gateway's own waits`,
    `(\`lambdas/core/jobs/waits.ts\`), provider ${channel.provider}, \`requests_per_second: ${channel.poll.requests_per_second ?? 'none'}\` for each account.`,
    `Assumed: create ${create} s, submit ${submit} s, poll ${poll} s, store ${storeSeconds(assumptions).toFixed(1)} s for ${assumptions.videoMegabytes} MB;`,
    `each video fetched ${assumptions.downloads} times. Chats: streams of ${assumptions.eventsPerSecond} events of ${assumptions.eventBytes} bytes a second;`,
    `${assumptions.functionCpuMilliseconds} ms of CPU for a request in a function, ${assumptions.requestCpuMilliseconds} ms in a process that serves many, and ${assumptions.eventCpuMilliseconds} ms for each event.`,
    `List prices of us-east-1 without free tiers, but for one of the three free dashboards; what upstreams charge is not in it.`,
  ].join(' ')
}
