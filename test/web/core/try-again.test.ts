import { describe, expect, it } from '@jest/globals'
import { tryAgain } from '#web/core/try-again.ts'

/** Tries three times an attempt that fails with these errors before it succeeds. */
async function tried(errors: readonly string[], { stopsAtPause = false } = {}) {
  const waits: number[] = []
  let attempts = 0
  const result = await tryAgain(
    async () => {
      const error = errors[attempts]
      attempts += 1
      if (error !== undefined) {
        throw new Error(error)
      }
      return 'done'
    },
    {
      tries: 3,
      waitAfter: (error) => (String(error).includes('stays') ? undefined : 100),
      pause: async (milliseconds) => {
        waits.push(milliseconds)
        if (stopsAtPause) {
          throw new Error('stopped')
        }
      },
    },
  ).catch((error: Error) => error.message)
  return { result, attempts, waits }
}

describe('tryAgain', () => {
  it('returns the first success, and waits between the tries alone', async () => {
    expect(await tried([])).toEqual({ result: 'done', attempts: 1, waits: [] })
    expect(await tried(['passes', 'passes'])).toEqual({ result: 'done', attempts: 3, waits: [100, 100] })
  })

  it('fails with the error of the last try', async () => {
    expect(await tried(['first', 'second', 'third'])).toEqual({ result: 'third', attempts: 3, waits: [100, 100] })
  })

  it('fails at once with an error that stays', async () => {
    expect(await tried(['passes', 'stays'])).toEqual({ result: 'stays', attempts: 2, waits: [100] })
  })

  it('ends when the wait is stopped', async () => {
    expect(await tried(['passes'], { stopsAtPause: true })).toEqual({ result: 'stopped', attempts: 1, waits: [100] })
  })
})
