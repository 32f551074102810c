import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import { nextTurn, Places } from '#platform/concurrency.ts'

/** Takes a place and notes when it has one. */
async function enter(places: Places, name: string, inside: string[]): Promise<() => void> {
  const leave = await places.take()
  inside.push(name)
  return leave
}

describe('Places', () => {
  it('are taken by no more than their number; the others wait, first come first served', async () => {
    const places = new Places(2)
    const inside: string[] = []
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => enter(places, name, inside))
    await setImmediate()
    expect(inside).toEqual(['a', 'b'])
    const leaveB = await b
    leaveB?.()
    await setImmediate()
    expect(inside).toEqual(['a', 'b', 'c'])
    const leaveA = await a
    leaveA?.()
    await Promise.all([c, d])
    expect(inside).toEqual(['a', 'b', 'c', 'd'])
  })

  it('that were given back are free again', async () => {
    const places = new Places(1)
    const inside: string[] = []
    const leave = await enter(places, 'a', inside)
    leave()
    await enter(places, 'b', inside)
    void enter(places, 'c', inside)
    await setImmediate()
    expect(inside).toEqual(['a', 'b'])
  })
})

describe('nextTurn', () => {
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
