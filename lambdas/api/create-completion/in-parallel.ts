type Parallel = {
  readonly count: number
  /** How many run at the same time. */
  readonly most: number
  /** Asked before each start; those that were not started are left out. */
  readonly mayStart: () => boolean
  /** Called at the first failure, after which nothing more is started. */
  readonly onFailure: () => void
}

/**
 * Runs a task for each index, in order of the indexes, some at a time.
 * @throws the first failure, after every task that was started has come to an end.
 */
export async function inParallel(
  { count, most, mayStart, onFailure }: Parallel,
  run: (index: number) => Promise<void>,
): Promise<void> {
  let started = 0
  let failure: { readonly error: unknown } | undefined
  const work = async () => {
    while (started < count && failure === undefined && mayStart()) {
      const index = started
      started += 1
      try {
        await run(index)
      } catch (error) {
        if (failure === undefined) {
          failure = { error }
          onFailure()
        }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(most, count) }, work))
  throwFailure(failure)
}

function throwFailure(failure: { readonly error: unknown } | undefined): void {
  if (failure !== undefined) {
    throw failure.error
  }
}
