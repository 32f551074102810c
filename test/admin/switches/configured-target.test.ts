import { expect, it } from 'vitest'
import { requireConfigured } from '../../../lib/cli/admin/switches.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'

const { config } = testCatalogue()

it.each([
  ['channel', 'main'],
  ['model', 'famA-2'],
] as const)('configured-target: accepts the %s %s, and not as the other kind', (kind, id) => {
  expect(() => requireConfigured(config, { kind, id })).not.toThrow()
  expect(() => requireConfigured(config, { kind: kind === 'model' ? 'channel' : 'model', id })).toThrow(
    'the deployed configuration has no',
  )
})
