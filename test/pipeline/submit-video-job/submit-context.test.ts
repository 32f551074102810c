import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSubmitContext } from '#lambdas/pipeline/submit-video-job/submit-context.ts'
import { changeSwitch } from '#store/switches.ts'
import { PER_SECOND_MODEL, testCatalogue } from '../../engines/test-catalogue.ts'
import { useTestTable } from '../../engines/test-table.ts'

const engine = useTestTable()
let directory: string
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'reelgate-submit-'))
  const file = join(directory, 'gateway.json')
  writeFileSync(file, JSON.stringify(testCatalogue().config))
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
    TABLE_NAME: engine.table.name,
    GATEWAY_CONFIG_FILE: file,
  })
})
afterAll(async () => {
  rmSync(directory, { recursive: true })
})

it('submit-context: has the configured catalogue, and the one under the switches in the table', async () => {
  await changeSwitch(
    engine.table,
    { kind: 'channel', id: 'main', action: 'disable' },
    { actor: { name: 'operator', role: 'operator' }, at: 1 },
  )
  const { catalogue, currentCatalogue } = openSubmitContext()
  const current = await currentCatalogue.read()
  const idsOf = (found: typeof catalogue) =>
    found.videoChannels(PER_SECOND_MODEL, { directOnly: false }).map(({ id }) => id)
  expect([idsOf(catalogue), idsOf(current)]).toEqual([['main', 'spare'], ['spare']])
})
