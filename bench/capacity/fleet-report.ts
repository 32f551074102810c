import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { Law } from '../lognormal.ts'
import { markdownTable } from '../markdown-table.ts'
import type { Assumptions } from './assumptions.ts'
import { demandOf } from './demand.ts'
import { type LimitName, REMEDIES, SERVICE_LIMITS } from './service-limits.ts'
import { type FleetRates, simulateFleet } from './simulate-fleet.ts'
import { demandOfChats } from './tenant-chats.ts'

/** What a deployment looks like. */
export type FleetOptions = {
  /** Of the upstream, one channel each; `enough` takes as many as the polls need. */
  readonly accounts: number | 'enough'
  readonly tenants: number
  readonly channel: VideoChannel
  readonly law: Law
  readonly limits: Readonly<Record<LimitName, number>>
  readonly assumptions: Assumptions
  readonly windowSeconds: number
}

/** Of every simulated fleet. */
export const SEED = 1

/** Polls a second of one open job, a little above what the start values come to: finds how many accounts are enough. */
const POLLS_PER_OPEN_JOB = 0.06

function accountsOf(openJobs: number, { accounts, channel }: FleetOptions): number {
  const perSecond = channel.poll.requests_per_second ?? Number.POSITIVE_INFINITY
  return accounts === 'enough' ? Math.max(1, Math.ceil((openJobs * POLLS_PER_OPEN_JOB) / perSecond)) : accounts
}

/** What so many open jobs ask of each limit, as Markdown. */
export function fleetSection(openJobs: number, options: FleetOptions): string {
  const accounts = accountsOf(openJobs, options)
  const { tenants, channel, law, limits, assumptions, windowSeconds } = options
  const rates = simulateShare(openJobs, accounts, { channel, law, windowSeconds })
  const demand = demandOf(rates, { openJobs, tenants, accounts, assumptions })
  const pollsAllowed = accounts * (channel.poll.requests_per_second ?? Number.POSITIVE_INFINITY)
  const polls = { name: 'upstream-polls' as const, asked: rates.polls + rates.throttled, allowed: pollsAllowed }
  return [
    `${accounts} upstream account${accounts === 1 ? '' : 's'}, ${tenants} tenants. ${describe(rates)}`,
    limitTable([polls, ...askedOf(demand, limits)]),
  ].join('\n\n')
}

/** Accounts share nothing, so that a few of them stand for all. */
const SIMULATED_ACCOUNTS_MAX = 40

type Simulated = Pick<FleetOptions, 'channel' | 'law' | 'windowSeconds'>

function simulateShare(openJobs: number, accounts: number, simulated: Simulated): FleetRates {
  const some = Math.min(accounts, SIMULATED_ACCOUNTS_MAX)
  const times = accounts / some
  const rates = simulateFleet({ ...simulated, openJobs: Math.round(openJobs / times), accounts: some, seed: SEED })
  return {
    jobs: rates.jobs * times,
    polls: rates.polls * times,
    throttled: rates.throttled * times,
    looks: rates.looks * times,
    lateLooks: rates.lateLooks * times,
    lagMean: rates.lagMean,
    lagP95: rates.lagP95,
    unfound: Math.round(rates.unfound * times),
  }
}

/** Chats a second of one tenant. */
const CHATS = [1, 10, 100]

/** What the chats of one tenant ask of each limit, as Markdown. */
export function chatsSection({ limits, assumptions: { chatSeconds } }: FleetOptions): string {
  const tables = CHATS.map((chatsPerSecond) => {
    const demand = demandOfChats({ chatsPerSecond, chatSeconds })
    return `### ${chatsPerSecond} a second\n\n${limitTable(askedOf(demand, limits))}`
  })
  return [`One key and one model, ${chatSeconds} s each, on AWS.`, ...tables].join('\n\n')
}
type Asked = { readonly name: LimitName | 'upstream-polls'; readonly asked: number; readonly allowed: number }

function askedOf(demand: Partial<Readonly<Record<LimitName, number>>>, limits: FleetOptions['limits']): Asked[] {
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
