import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { Law } from '../lognormal.ts'
import { markdownTable } from '../markdown-table.ts'
import { type Assumptions, FUNCTION_SECONDS, storeSeconds } from './assumptions.ts'
import { type CostLine, costOfControl, costOfMillionChats, costOfThousandJobs } from './costs.ts'
import { demandOf } from './demand.ts'
import { type LimitName, REMEDIES, SERVICE_LIMITS } from './service-limits.ts'
import { type FleetRates, simulateFleet } from './simulate-fleet.ts'
import { demandOfChats } from './tenant-chats.ts'

export type CapacityOptions = {
  readonly openJobs: readonly number[]
  /** Of the upstream, one channel each; `enough` takes as many as the polls need. */
  readonly accounts: number | 'enough'
  readonly tenants: number
  readonly channel: VideoChannel
  readonly law: Law
  readonly limits: Readonly<Record<LimitName, number>>
  readonly assumptions: Assumptions
  readonly windowSeconds: number
  readonly progress: (line: string) => void
}

const SEED = 1

/** Polls a second of one open job, a little above what the start values come to: finds how many accounts are enough. */
const POLLS_PER_OPEN_JOB = 0.06

/** Cost and capacity as Markdown: what jobs and chats cost, and for each size of fleet what it asks of each limit. */
export function reportCapacity(options: CapacityOptions): string {
  const sections = options.openJobs.map((openJobs) => {
    options.progress(`${openJobs} open jobs`)
    return fleetSection(openJobs, options)
  })
  return [costSection(options), ...sections, chatsSection(options)].join('\n\n')
}

function accountsOf(openJobs: number, { accounts, channel }: CapacityOptions): number {
  const perSecond = channel.poll.requests_per_second ?? Number.POSITIVE_INFINITY
  return accounts === 'enough' ? Math.max(1, Math.ceil((openJobs * POLLS_PER_OPEN_JOB) / perSecond)) : accounts
}

function costSection(options: CapacityOptions): string {
  const { channel, law, assumptions } = options
  // One fleet without any bound on polls: what a job costs when nothing is scarce.
  const free = { ...channel, poll: { ...channel.poll, requests_per_second: undefined } }
  const rates = simulateFleet({ openJobs: 1000, accounts: 1, channel: free, law, windowSeconds: 300, seed: SEED })
  const openSeconds = 1000 / rates.jobs
  const polls = rates.polls / rates.jobs
  return [
    '### Cost of 1,000 stored jobs',
    `${polls.toFixed(1)} polls and ${openSeconds.toFixed(0)} s a job; its client asks every ${assumptions.clientPollSeconds} s; a callback.`,
    costTable(costOfThousandJobs({ polls, openSeconds, assumptions })),
    '### Cost of a million chats',
    `${assumptions.chatSeconds} s each, streamed or not.`,
    costTable(costOfMillionChats(assumptions)),
    '### Cost of usage, alerts, audit and switches',
    'A month. The counters are in the two tables above too.',
    costTable(costOfControl(assumptions)),
  ].join('\n\n')
}

function costTable(lines: readonly CostLine[]): string {
  const total = lines.reduce((sum, { dollars }) => sum + dollars, 0)
  const sorted = lines.toSorted((left, right) => right.dollars - left.dollars)
  const rows = sorted.map(({ part, count, dollars }) => [part, count, dollars.toFixed(2)])
  return markdownTable(['Part', 'Of it', '$'], [...rows, ['**all**', '', total.toFixed(2)]])
}

function fleetSection(openJobs: number, options: CapacityOptions): string {
  const accounts = accountsOf(openJobs, options)
  const { tenants, channel, law, limits, assumptions, windowSeconds } = options
  const rates = simulateFleet({ openJobs, accounts, channel, law, windowSeconds, seed: SEED })
  const demand = demandOf(rates, { openJobs, tenants, accounts, assumptions })
  const pollsAllowed = accounts * (channel.poll.requests_per_second ?? Number.POSITIVE_INFINITY)
  const polls = { name: 'upstream-polls' as const, asked: rates.polls + rates.throttled, allowed: pollsAllowed }
  return [
    `### ${openJobs.toLocaleString('en')} open jobs`,
    `${accounts} upstream account${accounts === 1 ? '' : 's'}, ${tenants} tenants. ${describe(rates)}`,
    limitTable([polls, ...askedOf(demand, limits)]),
  ].join('\n\n')
}

/** Chats a second of one tenant. */
const CHATS = [1, 10, 100]

function chatsSection({ limits, assumptions: { chatSeconds } }: CapacityOptions): string {
  const tables = CHATS.map((chatsPerSecond) => {
    const demand = demandOfChats({ chatsPerSecond, chatSeconds })
    return `#### ${chatsPerSecond} a second\n\n${limitTable(askedOf(demand, limits))}`
  })
  return [`### Chats of one tenant`, `One key and one model, ${chatSeconds} s each, on AWS.`, ...tables].join('\n\n')
}

type Asked = { readonly name: LimitName | 'upstream-polls'; readonly asked: number; readonly allowed: number }

function askedOf(demand: Partial<Readonly<Record<LimitName, number>>>, limits: CapacityOptions['limits']): Asked[] {
  return limitNames(limits).flatMap((name) => {
    const asked = demand[name]
    return asked === undefined ? [] : [{ name, asked, allowed: limits[name] }]
  })
}

function limitTable(all: readonly Asked[]): string {
  const rows = all
    .toSorted((left, right) => right.asked / right.allowed - left.asked / left.allowed)
    .map(({ name, asked, allowed }) => [
      `\`${name}\``,
      round(asked),
      round(allowed),
      `${((100 * asked) / allowed).toFixed(asked < allowed / 100 ? 2 : 0)} %`,
      asked > 0.7 * allowed ? REMEDIES[name] : '',
    ])
  return markdownTable(['Limit', 'Asked', 'Allowed', 'Used', 'Above 70 %: what then'], rows)
}

function describe({ jobs, polls, lagMean, lagP95, unfound }: FleetRates): string {
  const lag = Number.isNaN(lagMean)
    ? 'no job was found in the window'
    : `lag ${lagMean.toFixed(1)} s, p95 ${lagP95.toFixed(0)} s`
  return `${jobs.toFixed(jobs < 10 ? 2 : 0)} jobs and ${polls.toFixed(1)} polls a second; ${lag}; ${unfound} videos ready upstream and not yet found.`
}

function limitNames(limits: Readonly<Record<LimitName, number>>): LimitName[] {
  const known: ReadonlySet<string> = new Set(Object.keys(SERVICE_LIMITS))
  return Object.keys(limits).filter((name): name is LimitName => known.has(name))
}

function round(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1)
}

/** What the figures rest on. */
export function describeAssumptions({ assumptions, channel, law }: CapacityOptions): string {
  const { create, submit, poll } = FUNCTION_SECONDS
  return [
    `Generations: lognormal, median ${law.median} s, 95th percentile ${law.p95} s. Polls: the gateway's own waits`,
    `(\`lambdas/core/jobs/waits.ts\`), provider ${channel.provider}, \`requests_per_second: ${channel.poll.requests_per_second ?? 'none'}\` for each account.`,
    `Assumed: create ${create} s, submit ${submit} s, poll ${poll} s, store ${storeSeconds(assumptions).toFixed(1)} s for ${assumptions.videoMegabytes} MB;`,
    `each video fetched ${assumptions.downloads} times. List prices of us-east-1 without free tiers; what upstreams charge is not in it.`,
  ].join(' ')
}
