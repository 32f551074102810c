import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unknownModels } from '../../../lib/cli/admin/keys.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'

const dataDirectory = mkdtempSync(join(tmpdir(), 'reelgate-models-'))
beforeAll(() => writeFileSync(join(dataDirectory, 'gateway.json'), JSON.stringify(testCatalogue().config)))
afterAll(() => rmSync(dataDirectory, { recursive: true }))

const context = { local: true, stage: 'dev', dataDirectory, output: async () => 'http://x' }
const find = (models: string[] | null, directory = dataDirectory) =>
  unknownModels({ ...context, dataDirectory: directory }, models)

describe('unknown-models', () => {
  it('names each model that the deployed configuration does not have, with the nearest that it has', async () => {
    expect(await find(['famA-2', 'famB-1.0-t2w', 'something-else'])).toEqual([
      'the deployed configuration has no model famB-1.0-t2w; did you mean famB-1.0-t2v?',
      'the deployed configuration has no model something-else',
    ])
  })

  it.each([
    ['every model is allowed', null, dataDirectory],
    ['the configuration cannot be read', ['anything'], join(dataDirectory, 'nowhere')],
  ])('is empty where %s', async (_, models, directory) => {
    expect(await find(models, directory)).toEqual([])
  })
})
