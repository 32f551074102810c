import { fork } from 'node:child_process'
import { parseArgs } from 'node:util'
import { describeFailure, type HistoryOptions, openSimulation } from './open-simulation.ts'

/**
 * `npm run test:long [-- --histories N] [--first N]`: thousands of random histories of each kind, in as many processes as are
 * worth it. `-- --seed N [--relayed | --switches | --reconcile-alone]` runs one history again.
 * Exits 1 and prints the seed when a rule breaks.
 */
const PROCESSES = 2
const HISTORIES = '3000'

type Kind = {
  readonly flags: readonly string[]
  readonly options: Omit<HistoryOptions, 'seed'>
  /** Histories of this kind for each one that was asked for. */
  readonly share: number
}

const KINDS = {
  jobs: { flags: [], options: {}, share: 1 },
  'jobs and relayed requests': { flags: ['--relayed'], options: { relaysRequests: true, switching: 'seen' }, share: 1 },
  'jobs and switches': { flags: ['--switches'], options: { switching: 'seen' }, share: 0.5 },
  'jobs with Reconcile alone': { flags: ['--reconcile-alone'], options: { reconcileAlone: true }, share: 0.2 },
} as const satisfies Record<string, Kind>
type KindName = keyof typeof KINDS

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: HISTORIES },
    first: { type: 'string', default: '1' },
    seed: { type: 'string' },
    relayed: { type: 'boolean', default: false },
    switches: { type: 'boolean', default: false },
    'reconcile-alone': { type: 'boolean', default: false },
    every: { type: 'string', default: '1' },
  },
})

type Run = { readonly first: number; readonly last: number; readonly every: number; readonly name: KindName }

async function runHistories({ first, last, every, name }: Run): Promise<boolean> {
  const simulation = await openSimulation()
  const { flags, options } = KINDS[name]
  let [histories, jobs, requests, steps] = [0, 0, 0, 0]
  for (let seed = first; seed <= last; seed += every) {
    const outcome = await simulation.run({ seed, ...options })
    if (outcome.broken.length > 0) {
      console.error(describeFailure(outcome, flags))
      return false
    }
    histories += 1
    jobs += outcome.jobs
    requests += outcome.relayed.requests
    steps += outcome.steps
  }
  console.log(
    `${histories} histories of ${name}: ${jobs} jobs, ${requests} relayed requests, ${steps} requests and timers: ` +
      'every rule held after every write',
  )
  return true
}

/** Each process takes every n-th seed. */
async function runInProcesses({ first, last, name }: Omit<Run, 'every'>): Promise<boolean> {
  const runs = Array.from({ length: PROCESSES }, (_, index) => {
    const flags = [`--first=${first + index}`, `--histories=${last - first - index + 1}`, `--every=${PROCESSES}`]
    const child = fork(import.meta.filename, [...flags, ...KINDS[name].flags])
    return new Promise<boolean>((resolve) => child.once('exit', (code) => resolve(code === 0)))
  })
  return (await Promise.all(runs)).every(Boolean)
}

function namedKind(): KindName {
  const other = values['reconcile-alone'] ? 'jobs with Reconcile alone' : 'jobs'
  const switched = values.switches ? 'jobs and switches' : other
  return values.relayed ? 'jobs and relayed requests' : switched
}

async function main(): Promise<boolean> {
  const first = Number(values.seed ?? values.first)
  const histories = values.seed === undefined ? Number(values.histories) : 1
  const last = first + histories - 1
  if (values.seed !== undefined || process.send !== undefined) {
    return await runHistories({ first, last, every: Number(values.every), name: namedKind() })
  }
  let holds = true
  for (const name of Object.keys(KINDS) as KindName[]) {
    const lastOfKind = first + Math.ceil(histories * KINDS[name].share) - 1
    holds = (await runInProcesses({ first, last: lastOfKind, name })) && holds
  }
  return holds
}

process.exit((await main()) ? 0 : 1)
