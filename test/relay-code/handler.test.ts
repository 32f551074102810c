import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  DeleteObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { handler } from '#lambdas/relay-code/handler.ts'

const s3 = mockClient(S3Client)
const environment = { ...process.env }
const folder = mkdtempSync(join(tmpdir(), 'relay-code-'))
const responses: { Status?: string; Reason?: string; PhysicalResourceId?: string; Data?: object }[] = []
let cloudFormation: Server

/** A bucket with versions: by key, the ids of every version, oldest first. */
const versions = new Map<string, string[]>()
/** Turns the versions of the bucket off. */
let isVersioned = true

beforeAll(async () => {
  cloudFormation = createServer(async (request, response) => {
    responses.push(JSON.parse(Buffer.concat(await request.toArray()).toString('utf8')))
    response.end()
  })
  await new Promise<void>((resolve) => cloudFormation.listen(0, '127.0.0.1', resolve))
  Object.assign(process.env, { BUCKET_NAME: 'code', LAMBDA_TASK_ROOT: folder, AWS_REGION: 'us-east-1' })
})
afterAll(async () => {
  process.env = environment
  rmSync(folder, { recursive: true })
  await new Promise((resolve) => cloudFormation.close(resolve))
})

beforeEach(() => {
  versions.clear()
  responses.length = 0
  isVersioned = true
  s3.reset()
  s3.on(HeadObjectCommand).callsFake(({ Key }) => {
    const VersionId = versions.get(Key)?.at(-1)
    if (VersionId === undefined) {
      throw Object.assign(new Error('UnknownError'), { name: 'NotFound' })
    }
    return { VersionId }
  })
  s3.on(PutObjectCommand).callsFake(({ Key, IfNoneMatch }) => {
    if (IfNoneMatch === '*' && versions.has(Key)) {
      throw Object.assign(new Error('exists'), { name: 'PreconditionFailed' })
    }
    const VersionId = `v${versions.size + 1}`
    versions.set(Key, [...(versions.get(Key) ?? []), VersionId])
    return isVersioned ? { VersionId } : {}
  })
  s3.on(ListObjectVersionsCommand).callsFake(() => ({
    Versions: [...versions].flatMap(([Key, ids]) => ids.map((VersionId) => ({ Key, VersionId }))),
  }))
  s3.on(DeleteObjectCommand).callsFake(({ Key, VersionId }) => {
    const left = versions.get(Key)?.filter((id) => id !== VersionId) ?? []
    versions.set(Key, left)
    return {}
  })
})

function digestOf(code: string): string {
  return createHash('sha256').update(code).digest('hex')
}

/** The archive that the function ships, and the digest that CloudFormation asks for. */
async function run(
  RequestType: 'Create' | 'Update' | 'Delete',
  { ships = 'one', asksFor = undefined as string | undefined } = {},
) {
  writeFileSync(join(folder, 'relay-server.zip'), ships)
  const { port } = cloudFormation.address() as AddressInfo
  await handler({
    RequestType,
    ServiceToken: 'arn:function',
    ResponseURL: `http://127.0.0.1:${port}/response`,
    StackId: 'arn:stack',
    RequestId: 'request-1',
    LogicalResourceId: 'Archive',
    PhysicalResourceId: 'code',
    ResourceType: 'Custom::RelayCode',
    ResourceProperties: { ServiceToken: 'arn:function', Digest: digestOf(asksFor ?? ships) },
    OldResourceProperties: {},
  } as CloudFormationCustomResourceEvent)
  return responses.at(-1)
}

const keyOf = (code: string) => `relay-server/${digestOf(code)}.zip`

describe('relay-code', () => {
  it('writes the archive under its digest, and tells its version', async () => {
    expect(await run('Create')).toMatchObject({
      Status: 'SUCCESS',
      PhysicalResourceId: 'code',
      Data: { Key: keyOf('one'), VersionId: 'v1' },
    })
    const [put] = s3.commandCalls(PutObjectCommand).map(({ args }) => args[0].input)
    expect(put).toMatchObject({ Bucket: 'code', Body: Buffer.from('one'), IfNoneMatch: '*' })
  })

  it('keeps the version of an archive that is there, which a revision may name', async () => {
    await run('Create')
    expect(await run('Update')).toMatchObject({ Data: { VersionId: 'v1' } })
    expect(versions.get(keyOf('one'))).toEqual(['v1'])
  })

  it('takes the version of another run that wrote between its look and its write', async () => {
    versions.set(keyOf('one'), ['other'])
    s3.on(HeadObjectCommand)
      .rejectsOnce(Object.assign(new Error('UnknownError'), { name: 'NotFound' }))
      .resolves({ VersionId: 'other' })
    expect(await run('Create')).toMatchObject({ Status: 'SUCCESS', Data: { VersionId: 'other' } })
    expect(versions.get(keyOf('one'))).toEqual(['other'])
  })

  it('keeps archives of earlier deployments, and finds one for a rollback', async () => {
    await run('Create', { ships: 'one' })
    await run('Update', { ships: 'two' })
    expect(await run('Update', { ships: 'two', asksFor: 'one' })).toMatchObject({
      Status: 'SUCCESS',
      Data: { Key: keyOf('one'), VersionId: 'v1' },
    })
    expect([...versions.keys()]).toEqual([keyOf('one'), keyOf('two')])
  })

  it('empties the bucket with every version at the end of the resource, and not before', async () => {
    versions.set(keyOf('one'), ['v1', 'v2'])
    await run('Update', { ships: 'two' })
    expect(s3.commandCalls(DeleteObjectCommand)).toEqual([])
    expect(await run('Delete')).toMatchObject({ Status: 'SUCCESS' })
    expect([...versions.values()].flat()).toEqual([])
  })

  it.each([
    ['an archive that it does not ship', { ships: 'two', asksFor: 'one' }, 'OtherArchiveError'],
    ['a bucket without versions', {}, 'UnversionedBucketError'],
  ])('fails the deployment for %s', async (what, archive, error) => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    isVersioned = what !== 'a bucket without versions'
    const response = await run('Create', archive)
    expect(response?.Status).toBe('FAILED')
    expect(response?.Reason).toContain(error)
    logged.mockRestore()
  })
})
