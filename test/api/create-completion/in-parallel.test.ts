import { describe, expect, it } from '@jest/globals'
import { inParallel } from '#lambdas/api/create-completion/in-parallel.ts'

/** Tasks that end when they are told to. */
function tasks() {
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

describe('inParallel', () => {
  it('runs every task, in order, no more than so many at a time', async () => {
    const { started, run, endOf } = tasks()
    const all = inParallel({ count: 4, most: 2, mayStart: () => true, onFailure: () => undefined }, run)
    await turn()
    expect(started).toStrictEqual([0, 1])
    endOf(1)?.resolve()
    await turn()
    expect(started).toStrictEqual([0, 1, 2])
    endOf(0)?.resolve()
    await turn()
    endOf(2)?.resolve()
    endOf(3)?.resolve()
    await all
    expect(started).toStrictEqual([0, 1, 2, 3])
  })

  it('starts nothing after a failure, tells of it once, and ends with the first when all have ended', async () => {
    const { started, run, endOf } = tasks()
    let failures = 0
    const onFailure = () => {
      failures += 1
    }
    let isOver = false
    const all = inParallel({ count: 9, most: 3, mayStart: () => true, onFailure }, run).finally(() => {
      isOver = true
    })
    all.catch(() => undefined)
    await turn()
    endOf(1)?.reject(new Error('first'))
    endOf(0)?.reject(new Error('second'))
    await turn()
    expect({ isOver, failures, started }).toStrictEqual({ isOver: false, failures: 1, started: [0, 1, 2] })
    endOf(2)?.resolve()
    await expect(all).rejects.toThrow('first')
  })

  it('leaves out what may not start any more', async () => {
    const { started, run, endOf } = tasks()
    let mayStart = true
    const all = inParallel({ count: 4, most: 2, mayStart: () => mayStart, onFailure: () => undefined }, run)
    await turn()
    mayStart = false
    endOf(0)?.resolve()
    endOf(1)?.resolve()
    await all
    expect(started).toStrictEqual([0, 1])
  })
})
