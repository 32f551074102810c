import type * as z from 'zod'
import { type Behaviour, DEFAULT_BEHAVIOUR, type SimulatorOptions } from './behaviour.ts'
import { clipFor } from './clip-files.ts'
import { ResultFiles } from './result-files.ts'
import { TaskBook } from './task-book.ts'
import { openJournal } from './task-journal.ts'
import { TokenBucket } from './token-bucket.ts'

/** The state of the account at a simulated upstream. */
export type SimulatedAccount<Details> = {
  readonly behaviour: Behaviour
  readonly now: () => number
  readonly tasks: TaskBook<Details>
  readonly results: ResultFiles
  readonly polls: TokenBucket
}

type AccountKind<Details> = {
  readonly detailsSchema: z.ZodType<Details>
  /** Seconds after which the upstream forgets a task. */
  readonly retentionSeconds: number
  /** Defaults of this upstream that differ from the common ones. */
  readonly behaviour?: Partial<Behaviour>
}

/** Opens an account with the tasks of its state file. */
export function openAccount<Details extends Parameters<typeof clipFor>[0]>(
  options: SimulatorOptions,
  { detailsSchema, retentionSeconds, behaviour: usual }: AccountKind<Details>,
): SimulatedAccount<Details> {
  const behaviour = { ...DEFAULT_BEHAVIOUR, ...usual, ...options.behaviour }
  const now = options.now ?? Date.now
  const journal = openJournal(options.stateFile, detailsSchema)
  const tasks = new TaskBook<Details>({ ...behaviour, now, retentionSeconds, journal })
  const results = new ResultFiles({
    now,
    find: (taskId) => {
      const task = tasks.find(taskId)
      return task && { clip: clipFor(task.details), trick: task.magic.resultTrick }
    },
  })
  return { behaviour, now, tasks, results, polls: new TokenBucket(behaviour.pollsPerSecond, now) }
}
