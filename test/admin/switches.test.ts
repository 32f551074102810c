import { describe, expect, it } from '@jest/globals'
import { NO_SWITCHES } from '#core/catalogue/switches.ts'
import { latestSwitch, unservedModels } from '#lambdas/admin/switches.ts'
import { PER_SECOND_MODEL, testCatalogue } from '../engines/test-catalogue.ts'

describe('latestSwitch', () => {
  it('names who set the latest of several', () => {
    const set = { weight: { value: 1, by: 'ada', at: 5 }, priority: { value: 1, by: 'bob', at: 9 }, enabled: undefined }
    expect(latestSwitch(set)).toEqual({ switched_by: 'bob', switched_at: 9 })
    expect(latestSwitch(undefined)).toEqual({ switched_by: null, switched_at: null })
  })
})

const OFF = { enabled: { value: false as const, by: 'ada', at: 1 } }
const { config } = testCatalogue()

describe('unservedModels', () => {
  it('names the models whose every channel is disabled, and is silent while one is left', () => {
    expect(unservedModels(config, NO_SWITCHES)).toBeUndefined()
    expect(unservedModels(config, { channels: { main: OFF }, models: {} })).toBeUndefined()
    expect(unservedModels(config, { channels: { main: OFF, spare: OFF }, models: {} })).toContain(PER_SECOND_MODEL)
  })
})
