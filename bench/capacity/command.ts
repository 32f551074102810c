import { parseOptions, UsageError } from '../../lib/cli/terminal.ts'
import { withSection } from '../../lib/openapi/markdown.ts'
import { P1, P2 } from '../poll-loop.ts'
import { ASSUMPTIONS, LIMITS, type LimitName } from './assumptions.ts'
import type { CapacityOptions, ReportSection } from './report.ts'

/** `clientPollSeconds` is the option `--client-poll-seconds`. */
const optionOf = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
const ASSUMED = Object.entries(ASSUMPTIONS).map(([name, usual]) => ({ name, usual, option: optionOf(name) }))

export const CAPACITY_USAGE = `npm run capacity -- [options]

  --jobs 10,1000,100000    jobs open at once
  --accounts enough        upstream accounts (channels) that share them, or a number
  --provider p1            p1 or p2: its waits
  --limit name=value       a quota of yours, repeatable: ${Object.keys(LIMITS).join(', ')}
  --write                  writes the sections that README.md and docs/scaling.md quote; takes no other option

Assumptions, numbers above 0:
${ASSUMED.map(({ option, usual }) => `  --${option} ${usual}`).join('\n')}

Markdown to the standard output. Needs no account; nothing is measured on AWS.`

/** A read command line. */
export type CapacityCommand = { readonly options: CapacityOptions; readonly isWriting: boolean }

/**
 * Reads the command line of `npm run capacity`; undefined for `--help`.
 * @throws UsageError for an option that is none, and for one beside `--write`.
 */
export function readCapacityCommand(args: string[]): CapacityCommand | undefined {
  const { values } = parseOptions({
    args,
    options: {
      jobs: { type: 'string', default: '10,1000,100000' },
      accounts: { type: 'string', default: 'enough' },
      provider: { type: 'string', default: 'p1' },
      limit: { type: 'string', multiple: true, default: [] as string[] },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
      ...Object.fromEntries(
        ASSUMED.map(({ option, usual }) => [option, { type: 'string', default: String(usual) } as const]),
      ),
    },
  })
  if (values.help) {
    return undefined
  }
  if (values.write && args.length > 1) {
    throw new UsageError('--write takes no other option: the pages quote the defaults')
  }
  const given = new Map(Object.entries(values).map(([option, value]) => [option, String(value)]))
  const assumed = ASSUMED.map(({ name, option }) => [name, positive(option, given.get(option) ?? '')])
  const assumptions = { ...ASSUMPTIONS, ...Object.fromEntries(assumed) }
  const channel = { p1: P1, p2: P2 }[values.provider]
  if (channel === undefined) {
    throw new UsageError(`--provider ${values.provider}: use p1 or p2`)
  }
  if (assumptions.p95 <= assumptions.median) {
    throw new UsageError(`--p95 ${assumptions.p95}: use more than the median, ${assumptions.median}`)
  }
  const options: CapacityOptions = {
    openJobs: values.jobs.split(',').map((each) => whole('jobs', each.trim())),
    accounts: values.accounts === 'enough' ? 'enough' : whole('accounts', values.accounts),
    channel: { ...channel, poll: { requests_per_second: assumptions.requestsPerSecond } },
    limits: readLimits(values.limit),
    assumptions,
  }
  return { options, isWriting: values.write }
}

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

function readLimits(given: readonly string[]): CapacityOptions['limits'] {
  const names = Object.keys(LIMITS) as LimitName[]
  const limits = Object.fromEntries(names.map((name) => [name, LIMITS[name][0]])) as Record<LimitName, number>
  for (const pair of given) {
    const [text = '', value = ''] = pair.split('=')
    const name = names.find((each) => each === text)
    if (name === undefined) {
      throw new UsageError(`--limit ${pair}: there is no ${text}; use one of ${names.join(', ')}`)
    }
    limits[name] = positive(`limit ${name}`, value)
  }
  return limits
}

/** The pages that quote the report with its default options, and the sections that each quotes. */
export const QUOTED_SECTIONS: Readonly<Record<string, readonly string[]>> = {
  'README.md': ['costs'],
  'docs/scaling.md': [
    ...['assumptions', 'jobs', 'deletes', 'chats', 'chats by part', 'plans', 'control', 'idle', 'watching', 'summary'],
    ...['open jobs', 'chats of one tenant'],
  ],
}

/**
 * A page with its sections of the report.
 * @throws TypeError when the page has no markers for one of them, or the report has no such section.
 */
export function withQuotedSections(page: string, names: readonly string[], report: readonly ReportSection[]): string {
  return names.reduce((written, name) => {
    const found = report.find((section) => section.name === name)
    if (found === undefined) {
      throw new TypeError(`the report has no section "${name}"`)
    }
    return withSection(written, { name, command: 'capacity -- --write', content: found.content })
  }, page)
}
