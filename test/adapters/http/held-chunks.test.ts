import { describe, expect, it } from 'vitest'
import { HeldChunks } from '#adapters/http/held-chunks.ts'

describe('held chunks', () => {
  it('leave as one, in their order, and only once', () => {
    const held = new HeldChunks()
    held.push(Buffer.from('ab'))
    held.push(Buffer.from('c'))
    expect([held.bytes, held.take()?.toString(), held.bytes, held.take()]).toEqual([3, 'abc', 0, undefined])
  })

  it('leave uncopied when there is one', () => {
    const held = new HeldChunks()
    const only = Buffer.from('ab')
    held.push(only)
    expect(held.take()).toBe(only)
  })

  it('stay when they are looked at', () => {
    const held = new HeldChunks()
    expect(held.peek()).toHaveLength(0)
    held.push(Buffer.from('ab'))
    expect([held.peek().toString(), held.peek().toString(), held.bytes]).toEqual(['ab', 'ab', 2])
    held.clear()
    expect([held.bytes, held.take()]).toEqual([0, undefined])
  })
})
