import { PROMPTS_AT_ONCE } from './completion-exchange.ts'
import type { UpstreamCalls } from './upstream-calls.ts'

/**
 * Runs each prompt, in their order, some at a time. None is begun after the calls have ended or the client has left, and
 * the first failure ends all calls.
 * @throws the first failure, after every prompt that was begun has come to its end.
 */
export async function forEachPrompt<Prompt>(
  prompts: readonly Prompt[],
  calls: Pick<UpstreamCalls, 'mayCall' | 'end'>,
  run: (prompt: Prompt) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  const waiting = prompts.values()
  const work = async () => {
    while (calls.mayCall) {
      const next = waiting.next()
      if (next.done) {
        return
      }
      try {
        await run(next.value)
      } catch (error) {
        failures.push(error)
        calls.end()
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(PROMPTS_AT_ONCE, prompts.length) }, work))
  if (failures.length > 0) {
    throw failures[0]
  }
}
