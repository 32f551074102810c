type TryAgain = {
  /** How often to try in all. */
  readonly tries: number
  /** How long to wait after an error, in milliseconds; undefined for an error that stays. */
  readonly waitAfter: (error: unknown) => number | undefined
  /** Waits. What it throws ends the tries. */
  readonly pause: (milliseconds: number) => Promise<void>
}

/** The result of the first try that succeeds. @throws the error of the last try, or the first one that stays. */
export async function tryAgain<Result>(
  attempt: () => Promise<Result>,
  { tries, waitAfter, pause }: TryAgain,
): Promise<Result> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt()
    } catch (error) {
      const wait = tried < tries ? waitAfter(error) : undefined
      if (wait === undefined) {
        throw error
      }
      await pause(wait)
    }
  }
}
