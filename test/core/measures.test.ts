import { describe, expect, it } from '@jest/globals'
import { COUNTED_FACTS, metricOfFact, numberOfErrorClass, UPSTREAM_ERROR_CLASSES } from '#core/measures.ts'

describe('metricOfFact', () => {
  it('is the fact itself, or the one that facts share of which one is enough', () => {
    expect(metricOfFact('overdraft')).toBe('overdraft')
    expect(metricOfFact('resolution_conflict')).toBe('service_fault')
  })

  it('makes fewer metrics than there are facts', () => {
    expect(new Set(COUNTED_FACTS.map(metricOfFact)).size).toBeLessThan(COUNTED_FACTS.length - 8)
  })
})

describe('numberOfErrorClass', () => {
  it('upstream-error-class: each class has a number of its own, from one', () => {
    expect(UPSTREAM_ERROR_CLASSES.map(numberOfErrorClass)).toEqual([1, 2, 3, 4, 5, 6, 7])
  })
})
