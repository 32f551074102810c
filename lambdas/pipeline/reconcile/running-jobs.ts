import { listRunningJobs } from '#platform/aws/video-executions.ts'
import { logger } from '#platform/telemetry/logger.ts'

/**
 * Jobs that a run asks about one by one before it lists all executions that run: fewer are cheaper that way, and exact to the moment.
 * Step Functions allows a new account 900 such questions a minute.
 */
const ASKED_ONE_BY_ONE = 100

/** Which jobs of one run of Reconcile have a running execution, by one list instead of a question for each job. */
export class RunningJobs {
  readonly #hasTime: () => boolean
  #asked = 0
  #list: Promise<ReadonlySet<string> | undefined> | undefined

  constructor(hasTime: () => boolean) {
    this.#hasTime = hasTime
  }

  /** False for the first jobs of a run, for a job that is not in the list, and for all jobs when there is no list: each needs a question of its own. */
  async has(jobId: string): Promise<boolean> {
    this.#asked += 1
    if (this.#asked <= ASKED_ONE_BY_ONE) {
      return false
    }
    this.#list ??= this.#read()
    return (await this.#list)?.has(jobId) ?? false
  }

  async #read(): Promise<ReadonlySet<string> | undefined> {
    try {
      return await listRunningJobs(this.#hasTime)
    } catch (error) {
      logger.warn('running executions not listed', { error: error instanceof Error ? error : undefined })
      return undefined
    }
  }
}
