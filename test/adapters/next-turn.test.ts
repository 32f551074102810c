import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { nextTurn } from '#adapters/next-turn.ts'

describe('next-turn', () => {
  it('gives each caller a turn of the event loop of its own, first come first served', async () => {
    const order: string[] = []
    const others = (async () => {
      for (let turn = 0; turn < 4; turn += 1) {
        await setImmediate()
        order.push('-')
      }
    })()
    await Promise.all(['a', 'b', 'c'].map((name) => nextTurn().then(() => order.push(name))))
    await others
    expect(order.filter((each) => each !== '-')).toEqual(['a', 'b', 'c'])
    expect(order.join('')).toMatch(/^-?a-+b-+c-*$/)
  })
})
