import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { startTestTable } from '../engines/start-test-table.ts'
import { tableWithClient } from '../engines/table-with-client.ts'
import { setTestLogging } from '../logs/test-logging.ts'
import type { Switching } from './channel-switching.ts'
import type { Guard } from './guards.ts'
import { LeanClient } from './lean-client.ts'
import { type Outcome, runHistory } from './run-history.ts'
import { mockServices } from './simulated-services.ts'
import { mockTimers } from './virtual-timers.ts'

export type HistoryOptions = {
  readonly seed: number
  /** Conditions that are taken out of the product's writes. */
  readonly missing?: readonly Guard[]
  readonly reconcileAlone?: boolean
  readonly relaysRequests?: boolean
  readonly switching?: Switching
  readonly probesGuards?: boolean
}

export type Simulation = {
  readonly run: (options: HistoryOptions) => Promise<Outcome>
  readonly close: () => Promise<void>
}

const DEFAULTS = {
  missing: [],
  reconcileAlone: false,
  relaysRequests: false,
  switching: 'never',
  probesGuards: true,
} as const

/** Starts the table engine; each history gets an empty table of its own. */
export async function openSimulation(): Promise<Simulation> {
  setTestLogging()
  mockServices()
  mockTimers()
  const engine = await startTestTable()
  const lean = new LeanClient(engine.endpoint)
  return {
    run: async ({ seed, ...asked }) => {
      const { name } = await engine.fresh()
      const client = Object.assign(Object.create(DynamoDBDocumentClient.prototype), { send: lean.send.bind(lean) })
      const table = tableWithClient({ name, client })
      return await runHistory({ ...DEFAULTS, ...asked, seed, table })
    },
    close: async () => {
      lean.close()
      await engine.close()
    },
  }
}

/** What a failing history says of itself, with the command that runs it again. */
export function describeFailure({ seed, broken, trace }: Outcome, flags: readonly string[] = []): string {
  return [
    `history ${seed} breaks a rule:`,
    ...broken.map((sentence) => `  ${sentence}`),
    'the last things that happened:',
    ...trace.slice(-20).map((label) => `  ${label}`),
    `run it again: npm run test:long -- ${['--seed', seed, ...flags].join(' ')}`,
  ].join('\n')
}
