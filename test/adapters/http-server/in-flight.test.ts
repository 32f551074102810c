import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InFlight, type Place } from '#adapters/http-server/in-flight.ts'

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
