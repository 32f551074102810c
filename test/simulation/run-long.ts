import { fork } from 'node:child_process'
import { parseArgs } from 'node:util'
import { describeFailure, openSimulation } from './open-simulation.ts'

/**
 * `npm run test:long [-- --histories N] [--first N]`: thousands of random histories, and a fifth as many again with nothing
 * but Reconcile, in as many processes as are worth it. `-- --seed N [--reconcile-alone]` runs one history again.
 * Exits 1 and prints the seed when a rule breaks.
 */
const PROCESSES = 2
const HISTORIES = '3000'
const RECONCILE_ALONE_SHARE = 0.2

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: HISTORIES },
    first: { type: 'string', default: '1' },
    seed: { type: 'string' },
    'reconcile-alone': { type: 'boolean', default: false },
    every: { type: 'string', default: '1' },
  },
})

type Run = { readonly first: number; readonly last: number; readonly every: number; readonly reconcileAlone: boolean }

async function runHistories({ first, last, every, reconcileAlone }: Run): Promise<boolean> {
  const simulation = await openSimulation()
  let [histories, jobs, steps] = [0, 0, 0]
  for (let seed = first; seed <= last; seed += every) {
    const outcome = await simulation.run({ seed, reconcileAlone })
    if (outcome.broken.length > 0) {
      console.error(describeFailure(outcome, reconcileAlone ? ' --reconcile-alone' : ''))
      return false
    }
    histories += 1
    jobs += outcome.jobs
    steps += outcome.steps
  }
  const mode = reconcileAlone ? ' with Reconcile alone' : ''
  console.log(
    `${histories} histories${mode}, ${jobs} jobs, ${steps} requests and timers: every rule held after every write`,
  )
  return true
}

/** Each process takes every n-th seed. */
async function runInProcesses({ first, last, reconcileAlone }: Omit<Run, 'every'>): Promise<boolean> {
  const runs = Array.from({ length: PROCESSES }, (_, index) => {
    const flags = [`--first=${first + index}`, `--histories=${last - first - index + 1}`, `--every=${PROCESSES}`]
    const child = fork(import.meta.filename, reconcileAlone ? [...flags, '--reconcile-alone'] : flags)
    return new Promise<boolean>((resolve) => child.once('exit', (code) => resolve(code === 0)))
  })
  return (await Promise.all(runs)).every(Boolean)
}

async function main(): Promise<boolean> {
  const first = Number(values.seed ?? values.first)
  const histories = values.seed === undefined ? Number(values.histories) : 1
  const last = first + histories - 1
  const reconcileAlone = values['reconcile-alone']
  if (values.seed !== undefined || process.send !== undefined) {
    return await runHistories({ first, last, every: Number(values.every), reconcileAlone })
  }
  const lastAlone = first + Math.ceil(histories * RECONCILE_ALONE_SHARE) - 1
  const holds = await runInProcesses({ first, last, reconcileAlone: false })
  return (await runInProcesses({ first, last: lastAlone, reconcileAlone: true })) && holds
}

process.exit((await main()) ? 0 : 1)
