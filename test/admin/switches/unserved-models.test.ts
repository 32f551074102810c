import { describe, expect, it } from 'vitest'
import { NO_SWITCHES } from '#core/catalogue/switches.ts'
import { unservedModels } from '#lambdas/admin/switches/unserved-models.ts'
import { PER_SECOND_MODEL, testCatalogue } from '../../engines/test-catalogue.ts'

const OFF = { enabled: { value: false as const, by: 'ada', at: 1 } }
const { config } = testCatalogue()

describe('unserved-models', () => {
  it('names the models whose every channel is disabled, and is silent while one is left', () => {
    expect(unservedModels(config, NO_SWITCHES)).toBeUndefined()
    expect(unservedModels(config, { channels: { main: OFF }, models: {} })).toBeUndefined()
    expect(unservedModels(config, { channels: { main: OFF, spare: OFF }, models: {} })).toContain(PER_SECOND_MODEL)
  })
})
