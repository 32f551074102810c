import { describe, expect, it } from 'vitest'
import { RunningWork } from '#adapters/http-server/running-work.ts'

describe('running invocations', () => {
  it('are settled when the last one has ended, however it ended', async () => {
    const running = new RunningWork()
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const both = [running.track(first.promise), running.track(second.promise)]
    let isSettled = false
    const settled = running.settled(60_000).then(() => {
      isSettled = true
    })
    first.resolve()
    await both[0]
    expect(isSettled).toBe(false)
    second.reject(new Error('failed'))
    await expect(both[1]).rejects.toThrow('failed')
    await settled
  })

  it('are settled at once when there are none', async () => {
    await new RunningWork().settled(60_000)
  })

  it('hold a shutdown up no longer than they may', async () => {
    const running = new RunningWork()
    void running.track(new Promise(() => {}))
    await running.settled(10)
  })
})
