import type { Template } from 'aws-cdk-lib/assertions'
import { expect, it } from 'vitest'
import { EVERY_SETTING } from './every-setting.ts'
import { shippedConfiguration, stageSettings, synthesizeStack } from './synthesize-stack.ts'

const { config } = shippedConfiguration
const open = { ...config, cors: { origins: ['https://app.example.com'] } }
const { cdnPublicKey: _brought, ...ownKeys } = EVERY_SETTING

const countOf = (template: Template) => Object.keys(template.toJSON().Resources).length

// CloudFormation takes at most 500 of a stack. A route of its own adds about eight.
it.each([
  ['production', 300, stageSettings({ console: 'on' }), config],
  ['everything with keys of its own', 370, stageSettings(ownKeys), open],
  ['everything with keys of the team', 370, stageSettings(EVERY_SETTING), open],
])('ReelgateStack: %s has at most %i resources', (_, most, settings, configuration) => {
  expect(countOf(synthesizeStack({ settings, config: configuration }))).toBeLessThanOrEqual(most)
})
