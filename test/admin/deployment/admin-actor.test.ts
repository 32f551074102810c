import { hostname, userInfo } from 'node:os'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { mockClient } from 'aws-sdk-client-mock'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readAdminActor } from '../../../lib/cli/admin/admin-context.ts'

const sts = mockClient(STSClient)
const ARN = 'arn:aws:sts::123456789012:assumed-role/Admin/alice'
const LOCAL_USER = `${userInfo().username}@${hostname()}`
const environment = { ...process.env }
beforeEach(() => {
  sts.reset()
  sts.on(GetCallerIdentityCommand).resolves({ Arn: ARN })
})
afterEach(() => {
  process.env = { ...environment }
})

describe('admin-actor', () => {
  it('is the ARN of the AWS caller for a deployed stage', async () => {
    expect(await readAdminActor({ local: false })).toEqual({ name: ARN, role: 'operator' })
  })

  it('is the user and the machine for a local host, and AWS is not asked', async () => {
    expect(await readAdminActor({ local: true })).toEqual({ name: LOCAL_USER, role: 'operator' })
    expect(sts.calls()).toEqual([])
  })

  it('is the user where an engine stands in for the table alone, and the caller where one stands in for AWS', async () => {
    process.env.AWS_ENDPOINT_URL_DYNAMODB = 'http://127.0.0.1:8000'
    expect((await readAdminActor({ local: false })).name).toBe(LOCAL_USER)
    process.env.AWS_ENDPOINT_URL = 'http://127.0.0.1:4566'
    expect((await readAdminActor({ local: false })).name).toBe(ARN)
  })

  it('a command without access to AWS says what to do', async () => {
    sts.on(GetCallerIdentityCommand).rejects(Object.assign(new Error('expired'), { name: 'ExpiredToken' }))
    await expect(readAdminActor({ local: false })).rejects.toThrow(
      'AWS refuses the credentials (expired): sign in again, or export others',
    )
    sts.on(GetCallerIdentityCommand).rejects(new Error('no route'))
    await expect(readAdminActor({ local: false })).rejects.toThrow('AWS does not say who calls: no route')
    sts.on(GetCallerIdentityCommand).resolves({})
    await expect(readAdminActor({ local: false })).rejects.toMatchObject({ name: 'CommandFailedError' })
  })
})
