import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation'
import { mockClient } from 'aws-sdk-client-mock'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { readDeployedConfig } from '../../../lib/cli/admin/catalogue.ts'
import { CONFIGURATION_METADATA } from '../../../lib/config/load-gateway-config.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'

const { config } = testCatalogue()
const cloudFormation = mockClient(CloudFormationClient)
const dataDirectory = mkdtempSync(join(tmpdir(), 'reelgate-deployed-'))
beforeEach(() => {
  cloudFormation.reset()
})
afterAll(() => rmSync(dataDirectory, { recursive: true }))

const read = (local: boolean) =>
  readDeployedConfig({ local, stage: 'dev', dataDirectory, output: async () => 'http://127.0.0.1:8787' })

describe('deployed-config: of a stage', () => {
  it('is what its template holds', async () => {
    const TemplateBody = JSON.stringify({ Metadata: { [CONFIGURATION_METADATA]: JSON.stringify(config) } })
    cloudFormation.on(GetTemplateCommand, { StackName: 'Reelgate-dev' }).resolves({ TemplateBody })
    expect(await read(false)).toEqual(config)
  })

  it.each(['{"Resources":{}}', 'AWSTemplateFormatVersion: x'])(
    'asks for a deployment where that is %j',
    async (body) => {
      cloudFormation.on(GetTemplateCommand).resolves({ TemplateBody: body })
      await expect(read(false)).rejects.toThrow('has no configuration that this version can read: deploy once')
    },
  )

  it('says what to do where nothing is deployed', async () => {
    cloudFormation.on(GetTemplateCommand).rejects(new Error('Stack does not exist'))
    await expect(read(false)).rejects.toThrow('deploy it, choose another --stage, or add --local')
  })
})

describe('deployed-config: of a local host', () => {
  it('is what the host left in its data directory', async () => {
    await expect(read(true)).rejects.toThrow('has no configuration there')
    writeFileSync(join(dataDirectory, 'gateway.json'), JSON.stringify(config))
    expect(await read(true)).toEqual(config)
    expect(cloudFormation.calls()).toEqual([])
  })
})
