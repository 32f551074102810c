import { parseOptions } from '../../lib/terminal/parse-options.ts'
import { UsageError } from '../../lib/terminal/usage-error.ts'
import { P1, P2 } from '../polling-scenarios.ts'
import { type Assumptions, DEFAULT_ASSUMPTIONS } from './assumptions.ts'
import type { CapacityOptions } from './report.ts'
import { type LimitName, SERVICE_LIMITS } from './service-limits.ts'

export const CAPACITY_USAGE = `npm run capacity -- [options]

  --jobs 10,1000,100000    jobs open at once
  --accounts enough        upstream accounts (channels) that share them, or a number
  --tenants 20
  --provider p1            p1 or p2: its waits
  --requests-per-second 15 polls that one account takes
  --median 90 --p95 240    generation times in seconds
  --client-poll-seconds 10, --video-megabytes 8, --downloads 2, --chat-seconds 4
  --function-cpu-milliseconds 5.4, --request-cpu-milliseconds 0.8, --event-cpu-milliseconds 0.06, --events-per-second 50, --event-bytes 250
  --web-rate-factor 10     times Lambda's prices of a vCPU and of a request that a Web Function may cost at most
  --budgets 100, --commands 1000   budgets that are watched, and commands with an effect a month
  --limit name=value       a quota of yours, repeatable: ${Object.keys(SERVICE_LIMITS).join(', ')}
  --window-seconds 120     virtual time that is counted
  --write                  writes the sections that README.md and docs/scaling.md quote; takes no other option

Markdown to the standard output. Needs no account; nothing is measured on AWS.`

const number = (fallback: number) => ({ type: 'string', default: String(fallback) }) as const

/** The assumptions that are numbers above 0, by option. */
const ASSUMPTIONS = {
  'client-poll-seconds': 'clientPollSeconds',
  'video-megabytes': 'videoMegabytes',
  'chat-seconds': 'chatSeconds',
  'function-cpu-milliseconds': 'functionCpuMilliseconds',
  'request-cpu-milliseconds': 'requestCpuMilliseconds',
  'event-cpu-milliseconds': 'eventCpuMilliseconds',
  'events-per-second': 'eventsPerSecond',
  'event-bytes': 'eventBytes',
  'web-rate-factor': 'webRateFactor',
} as const satisfies Record<string, keyof Assumptions>

const WHOLE_ASSUMPTIONS = ['downloads', 'budgets', 'commands'] as const satisfies readonly (keyof Assumptions)[]

const OPTIONS = {
  jobs: { type: 'string', default: '10,1000,100000' },
  accounts: { type: 'string', default: 'enough' },
  tenants: number(20),
  provider: { type: 'string', default: 'p1' },
  'requests-per-second': number(15),
  median: number(90),
  p95: number(240),
  'client-poll-seconds': number(DEFAULT_ASSUMPTIONS.clientPollSeconds),
  'video-megabytes': number(DEFAULT_ASSUMPTIONS.videoMegabytes),
  downloads: number(DEFAULT_ASSUMPTIONS.downloads),
  'chat-seconds': number(DEFAULT_ASSUMPTIONS.chatSeconds),
  'function-cpu-milliseconds': number(DEFAULT_ASSUMPTIONS.functionCpuMilliseconds),
  'request-cpu-milliseconds': number(DEFAULT_ASSUMPTIONS.requestCpuMilliseconds),
  'event-cpu-milliseconds': number(DEFAULT_ASSUMPTIONS.eventCpuMilliseconds),
  'events-per-second': number(DEFAULT_ASSUMPTIONS.eventsPerSecond),
  'event-bytes': number(DEFAULT_ASSUMPTIONS.eventBytes),
  'web-rate-factor': number(DEFAULT_ASSUMPTIONS.webRateFactor),
  budgets: number(DEFAULT_ASSUMPTIONS.budgets),
  commands: number(DEFAULT_ASSUMPTIONS.commands),
  'window-seconds': number(120),
  limit: { type: 'string', multiple: true, default: [] as string[] },
  write: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

function positive(option: string, given: string): number {
  const value = Number(given)
  if (!Number.isFinite(value) || value <= 0) {
    throw new UsageError(`--${option} ${given}: use a number above 0`)
  }
  return value
}

function whole(option: string, given: string): number {
  const value = positive(option, given)
  if (!Number.isInteger(value) || value > 1_000_000) {
    throw new UsageError(`--${option} ${given}: use a whole number up to 1000000`)
  }
  return value
}

function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(SERVICE_LIMITS, name)
}

function readLimits(given: readonly string[]): CapacityOptions['limits'] {
  const limits: Record<LimitName, number> = { ...SERVICE_LIMITS }
  for (const pair of given) {
    const [name = '', value = ''] = pair.split('=')
    if (!isLimitName(name)) {
      throw new UsageError(`--limit ${pair}: there is no ${name}; use one of ${Object.keys(SERVICE_LIMITS).join(', ')}`)
    }
    limits[name] = positive(`limit ${name}`, value)
  }
  return limits
}

type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

function readAssumptions(values: Values): Assumptions {
  const numbers = Object.entries(ASSUMPTIONS).map(([option, name]) => [name, positive(option, String(values[option]))])
  const wholes = WHOLE_ASSUMPTIONS.map((name) => [name, whole(name, String(values[name]))])
  return { ...DEFAULT_ASSUMPTIONS, ...Object.fromEntries([...numbers, ...wholes]) }
}

/** A read command line. */
export type CapacityCommand = {
  readonly options: Omit<CapacityOptions, 'progress'>
  /** Whether the pages are written. */
  readonly isWriting: boolean
}

/**
 * Reads the command line of `npm run capacity`; undefined for `--help`.
 * @throws UsageError for an option that is none, and for one beside `--write`.
 */
export function readCapacityOptions(args: string[]): CapacityCommand | undefined {
  const { values } = parseOptions({ args, options: OPTIONS })
  if (values.help) {
    return undefined
  }
  if (values.write && args.length > 1) {
    throw new UsageError('--write takes no other option: the pages quote the defaults')
  }
  const { provider } = values
  if (provider !== 'p1' && provider !== 'p2') {
    throw new UsageError(`--provider ${provider}: use p1 or p2`)
  }
  const [median, p95] = [positive('median', values.median), positive('p95', values.p95)]
  if (p95 <= median) {
    throw new UsageError(`--p95 ${values.p95}: use more than the median, ${values.median}`)
  }
  const perSecond = positive('requests-per-second', values['requests-per-second'])
  const options = {
    openJobs: values.jobs.split(',').map((each) => whole('jobs', each.trim())),
    accounts: values.accounts === 'enough' ? ('enough' as const) : whole('accounts', values.accounts),
    tenants: whole('tenants', values.tenants),
    channel: { ...(provider === 'p1' ? P1 : P2), poll: { requests_per_second: perSecond } },
    law: { median, p95 },
    limits: readLimits(values.limit),
    assumptions: readAssumptions(values),
    windowSeconds: whole('window-seconds', values['window-seconds']),
  }
  return { options, isWriting: values.write }
}
