import { expect, it } from 'vitest'
import { observeUpstreams, tellObserver, type UpstreamFact } from '#adapters/telemetry/upstream-observer.ts'

it('upstream-observer: tells facts to the one who observes, and says whether there is one', () => {
  const fact: UpstreamFact = { channelId: 'main', errorClass: 'odd_body' }
  expect(tellObserver(fact)).toBe(false)
  const facts: UpstreamFact[] = []
  observeUpstreams((told) => facts.push(told))
  expect(tellObserver(fact)).toBe(true)
  expect(facts).toEqual([fact])
})
