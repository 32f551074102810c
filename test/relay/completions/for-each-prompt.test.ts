import { describe, expect, it } from 'vitest'
import { forEachPrompt } from '#lambdas/relay/completions/for-each-prompt.ts'

const TEN = Array.from({ length: 10 }, (_, index) => index)
const FIRST_EIGHT = TEN.slice(0, 8)

/** Calls that the first failure ends. */
class FakeCalls {
  mayCall = true
  ends = 0
  end(): void {
    this.mayCall = false
    this.ends += 1
  }
}

/** Prompts that end when they are told to. */
function prompts() {
  const started: number[] = []
  const ends = new Map<number, PromiseWithResolvers<void>>()
  const run = (index: number) => {
    started.push(index)
    const end = Promise.withResolvers<void>()
    ends.set(index, end)
    return end.promise
  }
  return { started, run, endOf: (index: number) => ends.get(index) }
}

const turn = () => new Promise(setImmediate)

describe('forEachPrompt', () => {
  it('runs every prompt, in order, no more than eight at a time', async () => {
    const { started, run, endOf } = prompts()
    const all = forEachPrompt(TEN, new FakeCalls(), run)
    await turn()
    expect(started).toStrictEqual(FIRST_EIGHT)
    endOf(3)?.resolve()
    await turn()
    expect(started).toStrictEqual([...FIRST_EIGHT, 8])
    endOf(0)?.resolve()
    await turn()
    for (const index of TEN) {
      endOf(index)?.resolve()
    }
    await all
    expect(started).toStrictEqual(TEN)
  })

  it('begins nothing after a failure, which ends the calls, and throws the first when all have ended', async () => {
    const { started, run, endOf } = prompts()
    const calls = new FakeCalls()
    let isOver = false
    const all = forEachPrompt(TEN, calls, run).finally(() => {
      isOver = true
    })
    all.catch(() => undefined)
    await turn()
    endOf(1)?.reject(new Error('first'))
    await turn()
    expect(calls.ends).toBe(1)
    endOf(0)?.reject(new Error('second'))
    await turn()
    expect({ isOver, started }).toStrictEqual({ isOver: false, started: FIRST_EIGHT })
    for (const index of FIRST_EIGHT) {
      endOf(index)?.resolve()
    }
    await expect(all).rejects.toThrow('first')
    expect(started).toStrictEqual(FIRST_EIGHT)
  })

  it('leaves out what may not be called any more', async () => {
    const { started, run, endOf } = prompts()
    const calls = new FakeCalls()
    const all = forEachPrompt(TEN, calls, run)
    await turn()
    calls.mayCall = false
    for (const index of FIRST_EIGHT) {
      endOf(index)?.resolve()
    }
    await all
    expect(started).toStrictEqual(FIRST_EIGHT)
  })
})
