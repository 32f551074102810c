import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { InFlight, type Place, RunningWork } from '#platform/http-server/in-flight.ts'

const valuesOf = <Value>(values: InFlight<Value>) => Array.from(values, ({ value }) => value)

describe('InFlight', () => {
  it('keeps what a set keeps, in the same order, whatever comes and goes', () => {
    const steps = fc.array(fc.oneof(fc.constant('add'), fc.nat({ max: 20 })), { maxLength: 60 })
    fc.assert(
      fc.property(steps, (script) => {
        const inFlight = new InFlight<number>()
        const expected = new Set<number>()
        const places: Place<number>[] = []
        for (const step of script) {
          if (step === 'add') {
            expected.add(places.length)
            places.push(inFlight.add(places.length))
          } else {
            const place = places[Number(step)]
            expect(place !== undefined && inFlight.remove(place)).toBe(expected.delete(Number(step)))
          }
          expect(valuesOf(inFlight)).toEqual([...expected])
          expect(inFlight.size).toBe(expected.size)
          expect(inFlight.oldest?.value).toBe([...expected][0])
        }
      }),
    )
  })

  it('lets go of the neighbours of a value that has left, so that old garbage leads to no newer request', () => {
    const inFlight = new InFlight<string>()
    const places = ['a', 'b', 'c'].map((value) => inFlight.add(value))
    for (const place of places) {
      inFlight.remove(place)
    }
    expect(places.map(({ previous, next }) => [previous, next])).toEqual(places.map(() => [undefined, undefined]))
  })

  it('walks over the values of its beginning, although values leave and come on the way', () => {
    const inFlight = new InFlight<string>()
    for (const value of ['a', 'b']) {
      inFlight.add(value)
    }
    const seen: string[] = []
    for (const place of inFlight) {
      seen.push(place.value)
      inFlight.remove(place)
      inFlight.add(`${place.value} again`)
    }
    expect(seen).toEqual(['a', 'b'])
    expect(valuesOf(inFlight)).toEqual(['a again', 'b again'])
  })
})

describe('RunningWork', () => {
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
