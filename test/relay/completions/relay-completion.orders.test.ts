import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UpstreamFailedError } from '#core/errors.ts'
import { chatAnswer, DONE, FINISH, USAGE_CHUNK, word } from '../../engines/relay-upstream.ts'
import { startCompletion } from './faked-completion.ts'

const JSON_ANSWER = { contentType: 'application/json' }

describe('whatever order the upstreams answer and fail in', () => {
  type Step = { readonly prompt: number; readonly isFailure: boolean }
  const COUNT = 4

  const order = fc.record({
    stream: fc.boolean(),
    steps: fc
      .shuffledSubarray([0, 1, 2, 3], { minLength: COUNT })
      .chain((prompts) =>
        fc.tuple(...prompts.map((prompt) => fc.record({ prompt: fc.constant(prompt), isFailure: fc.boolean() }))),
      ),
    failsAfterText: fc.boolean(),
    leavesAt: fc.option(fc.nat(COUNT - 1), { nil: undefined }),
  })

  it('the reservation is resolved once, the answer ended once, and nothing is left open', async () => {
    await fc.assert(
      fc.asyncProperty(order, async ({ stream, steps, failsAfterText, leavesAt }) => {
        const run = startCompletion({ prompt: ['0', '1', '2', '3'], stream })
        await run.settle()
        for (const [at, step] of steps.entries()) {
          if (at === leavesAt) {
            run.answer.leaving.abort()
          }
          act(run, step, { stream, failsAfterText })
          await run.settle()
        }
        // A call that broke off before its first word is made once more, and fails for good.
        for (const call of run.calls.slice(COUNT)) {
          call.fail(new UpstreamFailedError())
        }
        const { error } = await run.over
        expect(run.reserved).toHaveLength(1)
        expect(run.resolved).toHaveLength(1)
        const hasFailed = steps.some(({ isFailure }) => isFailure)
        const isOpenWithoutEnd = run.answer.isOpen && run.answer.ends !== 1
        expect(isOpenWithoutEnd).toBe(false)
        expect(error !== undefined && run.answer.isOpen).toBe(false)
        if (!hasFailed) {
          expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: BigInt(COUNT) * 15_000n, estimated: false }])
        } else if (!run.answer.isOpen) {
          expect(run.resolved).toStrictEqual([{ kind: 'release' }])
        } else {
          expect(run.answer.text).not.toContain('[DONE]')
        }
        for (const call of run.calls.filter(({ prompt }) => !steps.some((step) => isAnswered(step, prompt)))) {
          expect(call.body.isDestroyed || call.post.givenUp?.aborted === true).toBe(true)
        }
      }),
      { numRuns: 60 },
    )
  })

  const isAnswered = ({ prompt, isFailure }: Step, name: string) => String(prompt) === name && !isFailure

  function act(
    run: ReturnType<typeof startCompletion>,
    { prompt, isFailure }: Step,
    { stream, failsAfterText }: { stream: boolean; failsAfterText: boolean },
  ): void {
    const call = run.callFor(String(prompt))
    if (isFailure && !failsAfterText) {
      call.fail(new UpstreamFailedError())
      return
    }
    call.answer(stream ? {} : JSON_ANSWER)
    if (isFailure) {
      call.body.write(stream ? word('Hi') : '{')
      call.body.breakOff()
    } else if (stream) {
      call.body.end(word('Hi'), FINISH, USAGE_CHUNK, DONE)
    } else {
      call.body.end(JSON.stringify(chatAnswer()))
    }
  }
})
