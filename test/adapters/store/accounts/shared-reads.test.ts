import { describe, expect, it } from 'vitest'
import { SharedReads } from '#adapters/store/accounts/shared-reads.ts'

/** Reads that end when a test says so, each with the number that it began as. */
function steeredReads() {
  const under: { readonly key: string; finish(): void; fail(): void }[] = []
  const reads = new SharedReads<number>((key) => {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const number = under.length + 1
    under.push({ key, finish: () => resolve(number), fail: () => reject(new Error(`read ${number}`)) })
    return promise
  })
  return { reads, under }
}

/** Everything that is ready to go on has gone on. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('a shared read', () => {
  it('never serves a request that came after it began: that one waits for the next', async () => {
    const { reads, under } = steeredReads()
    const first = reads.read('a')
    const second = reads.read('a')
    expect(under).toHaveLength(1)
    under[0]?.finish()
    expect(await first).toBe(1)
    await settled()
    expect(under).toHaveLength(2)
    under[1]?.finish()
    expect(await second).toBe(2)
  })

  it('is one for all that came while another was under way', async () => {
    const { reads, under } = steeredReads()
    const first = reads.read('a')
    const later = [reads.read('a'), reads.read('a'), reads.read('a')]
    under[0]?.finish()
    await first
    await settled()
    under[1]?.finish()
    expect(await Promise.all(later)).toEqual([2, 2, 2])
    expect(under).toHaveLength(2)
  })

  it('begins at once when none is under way, and nothing is kept after it', async () => {
    const { reads, under } = steeredReads()
    for (const number of [1, 2]) {
      const value = reads.read('a')
      under[number - 1]?.finish()
      expect(await value).toBe(number)
      await settled()
    }
  })

  it('of one key waits for none of another', () => {
    const { reads, under } = steeredReads()
    void reads.read('a')
    void reads.read('b')
    expect(under.map(({ key }) => key)).toEqual(['a', 'b'])
  })

  it('that fails fails those who share it, and nobody who came later', async () => {
    const { reads, under } = steeredReads()
    const first = reads.read('a').catch((error: Error) => error.message)
    const second = reads.read('a')
    under[0]?.fail()
    expect(await first).toBe('read 1')
    await settled()
    under[1]?.finish()
    expect(await second).toBe(2)
  })
})
