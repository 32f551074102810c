import { expect, it } from 'vitest'
import DiscoveredEndpoints from '#stack/discovered-endpoints.ts'

it('stores discovered endpoints like the original cache', () => {
  const cache = new DiscoveredEndpoints(1000)
  cache.set('a', [{ Address: 'one' }])
  expect([cache.has('a'), cache.has('b'), cache.size]).toStrictEqual([true, false, 1])
  expect([cache.get('a'), cache.peek('a'), cache.peek('b')]).toStrictEqual([
    [{ Address: 'one' }],
    [{ Address: 'one' }],
    undefined,
  ])
  cache.clear()
  expect(cache.has('a')).toBe(false)
})
