import { describe, expect, it } from 'vitest'
import { isFiltered, readFilters, urlWithFilters } from '#web/core/filters.ts'

describe('filters', () => {
  it('are read from the url alone, without empty ones and without strange parameters', () => {
    expect(readFilters({ tenant: 'demo', kind: '', utm: '1' }, ['tenant', 'kind'])).toEqual({ tenant: 'demo' })
  })

  it('give one url for equal filters, and none of the empty ones', () => {
    const url = urlWithFilters('/console/ledger', { tenant: 'demo', kind: 'grant' }, { kind: '', from: '2026-11-01' })
    expect(url).toBe('/console/ledger?from=2026-11-01&tenant=demo')
    expect(urlWithFilters('/console/ledger', {}, { kind: '' })).toBe('/console/ledger')
  })

  it('keep whatever a person types inside one parameter', () => {
    const url = urlWithFilters('/console/audit', {}, { target: 'a&b=c#d' })
    expect(new URL(url, 'http://localhost').searchParams.get('target')).toBe('a&b=c#d')
  })

  it('do not count the tenant, which a page is about', () => {
    expect([isFiltered({ tenant: 'demo' }), isFiltered({ tenant: 'demo', kind: 'grant' }), isFiltered({})]).toEqual([
      false,
      true,
      false,
    ])
  })
})
