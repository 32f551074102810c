import { parseArgs } from 'node:util'
import { P1, P2 } from '../polling-scenarios.ts'
import { DEFAULT_ASSUMPTIONS } from './assumptions.ts'
import { type CapacityOptions, describeAssumptions, reportCapacity } from './report.ts'
import { type LimitName, SERVICE_LIMITS } from './service-limits.ts'

const USAGE = `npm run capacity -- [options]

  --jobs 10,1000,100000    jobs open at once
  --accounts enough        upstream accounts (channels) that share them, or a number
  --tenants 20
  --provider p1            p1 or p2: its waits
  --requests-per-second 15 polls that one account takes
  --median 90 --p95 240    generation times in seconds
  --client-poll-seconds 10, --video-megabytes 8, --downloads 2, --chat-seconds 4
  --budgets 100, --commands 1000   budgets that are watched, and commands with an effect a month
  --limit name=value       a quota of yours, repeatable: ${Object.keys(SERVICE_LIMITS).join(', ')}
  --window-seconds 120     virtual time that is counted

Markdown to the standard output. Needs no account; nothing is measured on AWS.`

const number = { type: 'string' } as const
const OPTIONS = {
  jobs: { type: 'string', default: '10,1000,100000' },
  accounts: { type: 'string', default: 'enough' },
  tenants: { ...number, default: '20' },
  provider: { type: 'string', default: 'p1' },
  'requests-per-second': { ...number, default: '15' },
  median: { ...number, default: '90' },
  p95: { ...number, default: '240' },
  'client-poll-seconds': { ...number, default: String(DEFAULT_ASSUMPTIONS.clientPollSeconds) },
  'video-megabytes': { ...number, default: String(DEFAULT_ASSUMPTIONS.videoMegabytes) },
  downloads: { ...number, default: String(DEFAULT_ASSUMPTIONS.downloads) },
  'chat-seconds': { ...number, default: String(DEFAULT_ASSUMPTIONS.chatSeconds) },
  budgets: { ...number, default: String(DEFAULT_ASSUMPTIONS.budgets) },
  commands: { ...number, default: String(DEFAULT_ASSUMPTIONS.commands) },
  'window-seconds': { ...number, default: '120' },
  limit: { type: 'string', multiple: true, default: [] as string[] },
  help: { type: 'boolean', short: 'h', default: false },
} as const

class UsageError extends Error {
  override readonly name = 'UsageError'
}

function positive(option: string, text: string): number {
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0) {
    throw new UsageError(`--${option} ${text}: use a number above 0`)
  }
  return value
}

function whole(option: string, text: string): number {
  const value = positive(option, text)
  if (!Number.isInteger(value) || value > 1_000_000) {
    throw new UsageError(`--${option} ${text}: use a whole number up to 1000000`)
  }
  return value
}

function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(SERVICE_LIMITS, name)
}

function readLimits(given: readonly string[]): CapacityOptions['limits'] {
  const limits: Record<LimitName, number> = { ...SERVICE_LIMITS }
  for (const text of given) {
    const [name = '', value = ''] = text.split('=')
    if (!isLimitName(name)) {
      throw new UsageError(`--limit ${text}: there is no ${name}; use one of ${Object.keys(SERVICE_LIMITS).join(', ')}`)
    }
    limits[name] = positive(`limit ${name}`, value)
  }
  return limits
}

function readOptions(): CapacityOptions | undefined {
  const { values } = parseArgs({ options: OPTIONS })
  if (values.help) {
    return undefined
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
  return {
    openJobs: values.jobs.split(',').map((each) => whole('jobs', each.trim())),
    accounts: values.accounts === 'enough' ? 'enough' : whole('accounts', values.accounts),
    tenants: whole('tenants', values.tenants),
    channel: { ...(provider === 'p1' ? P1 : P2), poll: { requests_per_second: perSecond } },
    law: { median, p95 },
    limits: readLimits(values.limit),
    assumptions: {
      clientPollSeconds: positive('client-poll-seconds', values['client-poll-seconds']),
      videoMegabytes: positive('video-megabytes', values['video-megabytes']),
      downloads: positive('downloads', values.downloads),
      chatSeconds: positive('chat-seconds', values['chat-seconds']),
      budgets: whole('budgets', values.budgets),
      commands: whole('commands', values.commands),
    },
    windowSeconds: whole('window-seconds', values['window-seconds']),
    progress: (line) => console.error(line),
  }
}

/** `npm run capacity`: exit status 2 for an option that is none. */
function main(): void {
  try {
    const options = readOptions()
    console.log(options === undefined ? USAGE : `${describeAssumptions(options)}\n\n${reportCapacity(options)}`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 2
  }
}

main()
