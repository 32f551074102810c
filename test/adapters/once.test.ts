import { describe, expect, it, jest } from '@jest/globals'
import { once } from '#adapters/once.ts'

describe('once', () => {
  it('makes the value at the first call and returns the same one afterwards', () => {
    const make = jest.fn(() => ({}))
    const value = once(make)
    expect(make).not.toHaveBeenCalled()
    expect(value()).toBe(value())
    expect(make).toHaveBeenCalledTimes(1)
  })

  it('keeps undefined too', () => {
    const make = jest.fn(() => undefined)
    const value = once(make)
    value()
    value()
    expect(make).toHaveBeenCalledTimes(1)
  })

  it('tries again after a failure', () => {
    const make = jest.fn<() => string>().mockImplementationOnce(() => {
      throw new Error('no settings')
    })
    make.mockReturnValue('made')
    const value = once(make)
    expect(value).toThrow('no settings')
    expect(value()).toBe('made')
  })
})
