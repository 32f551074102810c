import { describe, expect, it, vi } from 'vitest'
import { once } from '#adapters/once.ts'

describe('once', () => {
  it('makes the value at the first call and returns the same one afterwards', () => {
    const make = vi.fn(() => ({}))
    const value = once(make)
    expect(make).not.toHaveBeenCalled()
    expect(value()).toBe(value())
    expect(make).toHaveBeenCalledTimes(1)
  })

  it('keeps undefined too', () => {
    const make = vi.fn(() => undefined)
    const value = once(make)
    value()
    value()
    expect(make).toHaveBeenCalledTimes(1)
  })

  it('tries again after a failure', () => {
    const make = vi.fn<() => string>().mockImplementationOnce(() => {
      throw new Error('no settings')
    })
    make.mockReturnValue('made')
    const value = once(make)
    expect(value).toThrow('no settings')
    expect(value()).toBe('made')
  })
})
