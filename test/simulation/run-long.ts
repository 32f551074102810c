import { fork } from 'node:child_process'
import { parseArgs } from 'node:util'
import { describeFailure, openSimulation } from './open-simulation.ts'

/**
 * `npm run test:long [-- --histories N] [--first N] [--seed N] [--reconcile-alone]`: thousands of random histories,
 * in as many processes as are worth it, or one history again by its seed. Exits 1 and prints the seed when a rule breaks.
 */
const PROCESSES = 2
const HISTORIES = '3000'

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: HISTORIES },
    first: { type: 'string', default: '1' },
    seed: { type: 'string' },
    'reconcile-alone': { type: 'boolean', default: false },
    every: { type: 'string', default: '1' },
  },
})
const reconcileAlone = values['reconcile-alone']

async function runHistories({ first, last, every }: { first: number; last: number; every: number }): Promise<boolean> {
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
  console.log(`${histories} histories, ${jobs} jobs, ${steps} requests and timers: every rule held after every write`)
  return true
}

/** Each process takes every n-th seed. */
async function runInProcesses(first: number, last: number): Promise<boolean> {
  const runs = Array.from({ length: PROCESSES }, (_, index) => {
    const flags = [`--first=${first + index}`, `--histories=${last - first - index + 1}`, `--every=${PROCESSES}`]
    const child = fork(import.meta.filename, reconcileAlone ? [...flags, '--reconcile-alone'] : flags)
    return new Promise<boolean>((resolve) => child.once('exit', (code) => resolve(code === 0)))
  })
  return (await Promise.all(runs)).every(Boolean)
}

const first = Number(values.seed ?? values.first)
const last = values.seed === undefined ? first + Number(values.histories) - 1 : first
const isWhole = values.seed === undefined && process.send === undefined
const holds = isWhole
  ? await runInProcesses(first, last)
  : await runHistories({ first, last, every: Number(values.every) })
process.exit(holds ? 0 : 1)
