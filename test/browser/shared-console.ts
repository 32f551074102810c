import type { startReceiver } from '../e2e/callback-receiver.ts'
import type { ClientJobs } from './client-jobs.ts'
import type { ConsoleHost } from './console-host.ts'

/** A console that several groups of tests use one after the other, a receiver of callbacks that it may call, and jobs of clients. */
export type SharedConsole = {
  readonly host: ConsoleHost
  readonly receiver: Awaited<ReturnType<typeof startReceiver>>
  readonly jobs: ClientJobs
}
