import { describe, expect, it } from 'vitest'
import { COUNTED_FACTS, metricOfFact } from '#core/telemetry/counted-facts.ts'

describe('metricOfFact', () => {
  it('is the fact itself, or the one that facts share of which one is enough', () => {
    expect(metricOfFact('overdraft')).toBe('overdraft')
    expect(metricOfFact('resolution_conflict')).toBe('service_fault')
  })

  it('makes fewer metrics than there are facts', () => {
    expect(new Set(COUNTED_FACTS.map(metricOfFact)).size).toBeLessThan(COUNTED_FACTS.length - 8)
  })
})
