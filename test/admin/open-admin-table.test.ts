import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { afterEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { openAdminTable } from '../../lib/admin/open-admin-table.ts'

const stacks = mockClient(CloudFormationClient)
process.env.AWS_REGION = 'us-east-1'

describe('the table that an admin command works on', () => {
  afterEach(() => {
    stacks.reset()
    delete process.env.TABLE_NAME
  })

  it('is the one that the stack of the stage names', async () => {
    const Outputs = [{ OutputKey: 'TableName', OutputValue: 'generated-name' }]
    stacks.on(DescribeStacksCommand, { StackName: 'Reelgate-prod' }).resolves({
      Stacks: [{ StackName: 'Reelgate-prod', CreationTime: new Date(0), StackStatus: 'CREATE_COMPLETE', Outputs }],
    })
    expect((await openAdminTable({ local: false, dataDirectory: '.data', stage: 'prod' })).name).toBe('generated-name')
  })

  it('is told as missing, with what to do, when the stage is not deployed', async () => {
    stacks.on(DescribeStacksCommand).rejects(new Error('Stack with id Reelgate-dev does not exist'))
    await expect(openAdminTable({ local: false, dataDirectory: '.data', stage: 'dev' })).rejects.toThrow(
      /the stack Reelgate-dev cannot be read .*: deploy it, choose another --stage, or add --local/,
    )
  })

  it('is told as missing, with what to start, when no local host runs', async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'reelgate-admin-'))
    await expect(openAdminTable({ local: true, dataDirectory, stage: 'dev' })).rejects.toThrow(
      `no local host runs over ${dataDirectory}: start it with \`npm start -- --data-dir ${dataDirectory}\``,
    )
  })
})
