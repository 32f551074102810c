import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals'
import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import { type PackedFile, writeFiles } from '#lambdas/console-files/bucket-files.ts'
import { startTestBucket } from '../engines/test-bucket.ts'
import { useOpened } from '../engines/use-opened.ts'

type Handler = (event: CloudFormationCustomResourceEvent) => Promise<void>

const DAY_MILLISECONDS = 86_400_000
const PAGE: PackedFile = {
  key: 'console/index.html',
  contentType: 'text/html; charset=utf-8',
  cacheControl: 'no-store',
  base64: Buffer.from('<!doctype html>').toString('base64'),
}
const SCRIPT: PackedFile = {
  key: 'console/assets/index-1a2b.js',
  contentType: 'text/javascript; charset=utf-8',
  cacheControl: 'public, max-age=31536000, immutable',
  base64: Buffer.from('export {}').toString('base64'),
}

const environment = { ...process.env }
const responses: { Status?: string; PhysicalResourceId?: string }[] = []
const folder = mkdtempSync(join(tmpdir(), 'console-files-'))
const bucket = useOpened(startTestBucket)
let cloudFormation: Server
let handler: Handler

beforeAll(async () => {
  cloudFormation = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    responses.push(JSON.parse(Buffer.concat(await request.toArray()).toString('utf8')))
    response.end()
  })
  await new Promise<void>((resolve) => cloudFormation.listen(0, '127.0.0.1', resolve))
  Object.assign(process.env, {
    BUCKET_NAME: bucket.bucket.name,
    LAMBDA_TASK_ROOT: folder,
    AWS_ENDPOINT_URL_S3: bucket.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
  })
  // The client of the function reads the environment when the module is loaded.
  const loaded = await import('#lambdas/console-files/handler.ts')
  handler = loaded.handler
})

afterAll(async () => {
  process.env = environment
  rmSync(folder, { recursive: true })
  await new Promise((resolve) => cloudFormation.close(resolve))
})

function eventOf(RequestType: 'Create' | 'Update' | 'Delete'): CloudFormationCustomResourceEvent {
  const { port } = cloudFormation.address() as AddressInfo
  const common = {
    ServiceToken: 'arn:function',
    ResponseURL: `http://127.0.0.1:${port}/response`,
    StackId: 'arn:stack',
    RequestId: 'request-1',
    LogicalResourceId: 'Files',
    PhysicalResourceId: bucket.bucket.name,
    ResourceType: 'Custom::ConsoleFiles',
    ResourceProperties: { ServiceToken: 'arn:function' },
    OldResourceProperties: {},
  }
  return { ...common, RequestType } as CloudFormationCustomResourceEvent
}

function pack(files: readonly PackedFile[]): void {
  writeFileSync(join(folder, 'console.json'), JSON.stringify(files))
}

describe('console-files', () => {
  it('writes each file with its type and the time that it may be cached', async () => {
    pack([PAGE, SCRIPT])
    await handler(eventOf('Create'))
    expect(responses.at(-1)).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: bucket.bucket.name })
    for (const { key, contentType, cacheControl, base64 } of [PAGE, SCRIPT]) {
      const head = await bucket.bucket.client.send(new HeadObjectCommand({ Bucket: bucket.bucket.name, Key: key }))
      expect(head).toMatchObject({ ContentType: contentType, CacheControl: cacheControl })
      expect((await bucket.bytes(key)).toString('base64')).toBe(base64)
    }
  })

  it('keeps files of an earlier build for a week, because an open page may load them', async () => {
    const next = { ...SCRIPT, key: 'console/assets/index-3c4d.js' }
    await writeFiles(bucket.bucket, [PAGE, next], Date.now() + 6 * DAY_MILLISECONDS)
    expect(await bucket.keys()).toEqual([SCRIPT.key, next.key, PAGE.key])
    await writeFiles(bucket.bucket, [PAGE, next], Date.now() + 8 * DAY_MILLISECONDS)
    expect(await bucket.keys()).toEqual([next.key, PAGE.key])
  })

  it('writes the page after the parts that it names', async () => {
    const written: (string | undefined)[] = []
    const send = jest.fn(async (command: object) => {
      if (command instanceof PutObjectCommand) {
        written.push(command.input.Key)
      }
      return {}
    })
    await writeFiles({ client: { send } as never, name: 'b' }, [PAGE, SCRIPT], 0)
    expect(written).toEqual([SCRIPT.key, PAGE.key])
  })

  it('empties the bucket when the resource is deleted, so that the bucket can be deleted', async () => {
    await handler(eventOf('Delete'))
    expect(responses.at(-1)).toMatchObject({ Status: 'SUCCESS' })
    expect(await bucket.keys()).toEqual([])
  })

  it('tells CloudFormation why the console could not be written', async () => {
    const logged = jest.spyOn(console, 'error').mockImplementation(() => {})
    writeFileSync(join(folder, 'console.json'), '{"not":"a list"}')
    await handler(eventOf('Update'))
    expect(responses.at(-1)).toMatchObject({ Status: 'FAILED' })
    logged.mockRestore()
  })
})
