import { describe, expect, it } from '@jest/globals'
import { openRelayContext } from '#lambdas/relay/relay-context.ts'
import { openCallerContext } from '#middleware/caller-context.ts'
import { CHAT, startRelayRig } from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'

useOpened(startRelayRig)

describe('openCallerContext', () => {
  it('has the catalogue of the deployment', async () => {
    const catalogue = await openCallerContext().currentCatalogue.read()
    expect(catalogue.config.models.map(({ id }) => id)).toContain(CHAT)
  })

  it('shares the keys and the switches that were read, and the rates, among all operations of a process', () => {
    const { callers, rates, currentCatalogue } = openCallerContext()
    expect(openCallerContext().callers).toBe(callers)
    expect(openRelayContext().callers).toBe(callers)
    expect(openRelayContext().rates).toBe(rates)
    expect(openRelayContext().currentCatalogue).toBe(currentCatalogue)
  })
})
