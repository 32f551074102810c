import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { readRunningHost } from '#local/data-directory.ts'
import { type Gateway, startGateway } from './start-gateway.ts'

const GOOD = { model: 'famB-1.1-t2v', prompt: 'a cat runs on grass' }

/** Variables that people have for AWS; the engines of the host are none of it. */
const AWS_VARIABLES = {
  AWS_PROFILE: 'work',
  AWS_ACCESS_KEY_ID: 'AKIAWORK',
  AWS_SECRET_ACCESS_KEY: 'work',
  AWS_SESSION_TOKEN: 'token',
}

let gateway: Gateway
let jobId: string
beforeAll(async () => {
  gateway = await startGateway({ environment: AWS_VARIABLES })
  jobId = String((await gateway.api.create(GOOD)).json.id)
  await gateway.api.until(jobId, 'succeeded')
})
afterAll(() => void gateway.kill())

const host = () => readRunningHost(gateway.dataDirectory) ?? { pid: 0 }

async function listBucket(secretAccessKey: string) {
  const { s3Endpoint = '', bucketName, credentials } = host()
  const client = new S3Client({
    endpoint: s3Endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: credentials?.accessKeyId ?? '', secretAccessKey },
    maxAttempts: 1,
  })
  try {
    return (await client.send(new ListObjectsV2Command({ Bucket: bucketName }))).KeyCount
  } finally {
    client.destroy()
  }
}

describe('the ports of the local host, which every user of the machine reaches', () => {
  it('of the bucket and the state machine refuse requests without the secret of this start', async () => {
    const { s3Endpoint, bucketName, awsEndpoint, credentials } = host()
    expect((await fetch(`${s3Endpoint}/${bucketName}?list-type=2`)).status).toBe(403)
    await expect(listBucket('S3RVER')).rejects.toMatchObject({ name: 'AccessDenied' })
    expect(await listBucket(credentials?.secretAccessKey ?? '')).toBeGreaterThan(0)
    const headers = { 'x-amz-target': 'AWSStepFunctions.DescribeExecution' }
    const answer = await fetch(String(awsEndpoint), { method: 'POST', headers, body: '{"executionArn":"a"}' })
    expect(await answer.json()).toMatchObject({ __type: 'AccessDeniedException' })
  })

  it('of the simulated upstreams refuse requests without the key of this start', async () => {
    const ports: Record<string, number> = JSON.parse(
      readFileSync(join(gateway.dataDirectory, 'simulator-ports.json'), 'utf8'),
    )
    expect(Object.keys(ports).length).toBeGreaterThan(3)
    for (const [channel, port] of Object.entries(ports)) {
      const path = channel.startsWith('p1') ? '/api/v1/tasks/' : '/v1/models'
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: 'Bearer none' } })
      expect([channel, answer.status]).toEqual([channel, 401])
    }
  })

  it('are readable, with the secret, only by the owner of the data directory', () => {
    const modeOf = (path: string) => statSync(path).mode & 0o777
    expect(modeOf(gateway.dataDirectory)).toBe(0o700)
    for (const name of ['host.json', 'table.sqlite', 'simulator-p1-main.json', 'bucket']) {
      expect([name, modeOf(join(gateway.dataDirectory, name)) & 0o077]).toEqual([name, 0])
    }
  })

  it('answer admin commands, which read the secret there', async () => {
    const id = String((await gateway.api.create({ ...GOOD, prompt: '[forever] a cat' })).json.id)
    const timeline = JSON.stringify(await gateway.admin('job', 'timeline', '--job', id))
    expect(timeline).toContain('execution')
    await gateway.admin('job', 'cancel', '--job', id, '--yes')
    expect((await gateway.api.get(id)).json.status).toBe('failed')
    expect(await gateway.admin('ledger', 'verify')).toMatchObject({ ok: true, broken: [] })
  })

  it('have another secret after the next start', async () => {
    const first = host().credentials?.secretAccessKey
    await gateway.kill()
    gateway = await startGateway({ dataDirectory: gateway.dataDirectory, configFile: gateway.configFile })
    expect(host().credentials?.secretAccessKey).not.toBe(first)
    await expect(listBucket(first ?? '')).rejects.toMatchObject({ name: 'AccessDenied' })
  })
})
