import { describe, expect, it } from 'vitest'
import { UpstreamFailedError } from '#core/errors.ts'
import { startCompletion } from './faked-completion.ts'

describe('what is locked', () => {
  it.each([
    [1, 1],
    [2, 2],
    [3, 3],
    [5, 3],
  ])('covers the prompt of every call that may be made: %i completions, %i calls', async (n, calls) => {
    const run = startCompletion({ prompt: 'a', n })
    await run.settle()
    const promptTokensMax = Buffer.byteLength(run.callFor('a').post.body)
    expect(run.reserved).toStrictEqual([BigInt(promptTokensMax * calls * 1_000 + n * 10 * 2_000)])
    run.callFor('a').fail(new UpstreamFailedError())
    await run.over
  })
})
