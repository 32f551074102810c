import { cpus, totalmem } from 'node:os'
import { parseOptions, UsageError } from '../lib/cli/terminal.ts'
import type { Measure, MeasureOptions } from './measurement.ts'

/** Loaded when run, one after the other: what one measurement keeps in memory must not weigh on the next. */
const MEASUREMENTS: Readonly<Record<string, () => Promise<Measure>>> = {
  operations: async () => (await import('./operations.ts')).measureOperations,
  polling: async () => (await import('./polling.ts')).measurePolling,
  store: async () => (await import('./store.ts')).measureStore,
  relay: async () => (await import('./relay.ts')).measureRelay,
  'cold-start': async () => (await import('./cold-start.ts')).measureColdStart,
}

const USAGE = `npm run bench -- [NAMES...] [--quick]

Measures ${Object.keys(MEASUREMENTS).join(', ')}, or those that are named.
--quick: for trying out; the figures say little.
Markdown to the standard output, progress to the standard error.

Of the relay alone:
  --case NAME     this case, such as "JSON, 16"; can be repeated
  --target NAME   this target: direct, portkey, priced, free; can be repeated
  --rounds N      so many rounds
  --checkout DIR  measures the gateway of another checkout beside this one`

/** `npm run bench`. Exit code 2 when the command line makes no sense. */
async function main(): Promise<void> {
  const { values, positionals } = parseOptions({
    options: {
      quick: { type: 'boolean' },
      case: { type: 'string', multiple: true },
      target: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      checkout: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
    allowPositionals: true,
  })
  if (values.help) {
    console.log(USAGE)
    return
  }
  const unknown = positionals.filter((name) => !Object.hasOwn(MEASUREMENTS, name))
  if (unknown.length > 0) {
    throw new UsageError(`no measurement ${unknown.join(', ')}`)
  }
  const options: MeasureOptions = {
    quick: values.quick === true,
    relay: { cases: values.case, targets: values.target, rounds: values.rounds, checkout: values.checkout },
    progress: (line) => console.error(`[${new Date().toISOString().slice(11, 19)}] ${line}`),
  }
  console.log(describeMachine(options))
  for (const [name, load] of Object.entries(MEASUREMENTS)) {
    if (positionals.length === 0 || positionals.includes(name)) {
      options.progress(`${name}:`)
      const measure = await load()
      console.log(`\n${await measure(options)}`)
    }
  }
}

function describeMachine({ quick }: MeasureOptions): string {
  const processors = cpus()
  const gibibytes = Math.round(totalmem() / 2 ** 30)
  return [
    `- Machine: ${processors[0]?.model.trim() ?? 'unknown processor'}, ${processors.length} cores, ${gibibytes} GiB memory`,
    `- Node ${process.versions.node} on ${process.platform}-${process.arch}`,
    `- Date: ${new Date().toISOString().slice(0, 10)}`,
    ...(quick ? ['- `--quick`: for trying out; these figures say little'] : []),
  ].join('\n')
}

try {
  await main()
} catch (error) {
  if (!(error instanceof UsageError)) {
    throw error
  }
  console.error(`${error.message}\n\n${USAGE}`)
  process.exitCode = 2
}
