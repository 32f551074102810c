import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import { handler } from '#lambdas/cdn-signing-key/handler.ts'
import { FakeCloudFront, FakeSecret } from './key-services.ts'

type Answer = { headers: IncomingHttpHeaders; method: string | undefined; body: Record<string, unknown> }

const GROUP_NAME = 'Reelgate-dev-video-urls-eu-west-1'
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const answers: Answer[] = []
const environment = { ...process.env }
let responseStatus = 200
let server: Server
let secret: FakeSecret
let cloudFront: FakeCloudFront

beforeAll(async () => {
  server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8'))
      answers.push({ headers: request.headers, method: request.method, body })
      response.writeHead(responseStatus).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  Object.assign(process.env, {
    CDN_SIGNING_KEY_SECRET_ARN: 'arn:aws:secretsmanager:eu-west-1:111111111111:secret:cdn-AbCdEf',
    CDN_KEY_GROUP_NAME: GROUP_NAME,
  })
})

afterAll(async () => {
  process.env = environment
  await new Promise((resolve) => server.close(resolve))
})

beforeEach(() => {
  secret = new FakeSecret()
  cloudFront = new FakeCloudFront()
  answers.length = 0
  responseStatus = 200
})
afterEach(() => {
  jest.restoreAllMocks()
})

/** Time passes for everything that reads the clock. */
function pass(milliseconds: number): void {
  const now = Date.now() + milliseconds
  jest.spyOn(Date, 'now').mockImplementation(() => now)
}

function eventOf(
  requestType: 'Create' | 'Update' | 'Delete',
  changes: { groupName?: string; physicalId?: string } = {},
): CloudFormationCustomResourceEvent {
  const { groupName = GROUP_NAME } = changes
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const common = {
    ServiceToken: 'arn:aws:lambda:eu-west-1:111111111111:function:key',
    ResponseURL: `http://127.0.0.1:${port}/answer?signature=abc`,
    StackId: 'arn:aws:cloudformation:eu-west-1:111111111111:stack/Reelgate-dev/1',
    RequestId: '0198b3a0-0000-7000-8000-000000000001',
    LogicalResourceId: 'KeyGroup',
    ResourceType: 'Custom::CdnKeyGroup',
    ResourceProperties: { ServiceToken: 'token', KeyGroupName: groupName },
  }
  const known = { ...common, PhysicalResourceId: changes.physicalId ?? groupName }
  switch (requestType) {
    case 'Create':
      return { ...common, RequestType: 'Create' }
    case 'Update':
      return { ...known, RequestType: 'Update', OldResourceProperties: common.ResourceProperties }
    case 'Delete':
      return { ...known, RequestType: 'Delete' }
  }
}

const send = (...event: Parameters<typeof eventOf>) => handler(eventOf(...event))
const heldKeys = () => [...cloudFront.groups.values()].map(({ Items }) => Items)
const newPrivateKey = () =>
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const publicHalf = (privateKeyPem: string) =>
  createPublicKey(privateKeyPem).export({ type: 'spki', format: 'pem' }).toString()

/** The key ids after an action, oldest first, with their states. */
async function states(event: object): Promise<unknown> {
  const result = await handler(event)
  return result !== undefined && 'keys' in result
    ? result.keys.map(({ keyPairId, state }) => `${keyPairId} ${state}`)
    : result
}
const rotate = () => states({ action: 'rotate' })
const list = () => states({ action: 'list' })

describe('the key group, when the stack is made', () => {
  it('holds one fresh RSA-2048 key, whose private half is in the secret and nowhere else', async () => {
    await send('Create')

    const [key] = secret.keys
    const [publicKey] = cloudFront.publicKeys.values()
    expect(publicKey?.EncodedKey).toBe(publicHalf(key?.privateKeyPem ?? ''))
    expect(createPublicKey(publicKey?.EncodedKey ?? '').asymmetricKeyDetails?.modulusLength).toBe(2048)
    expect(key?.keyPairId).toBe(publicKey?.Id)
    expect(heldKeys()).toEqual([[publicKey?.Id]])
    expect(answers.map(({ body }) => body)).toEqual([
      {
        Status: 'SUCCESS',
        Data: { KeyGroupId: [...cloudFront.groups.keys()][0] },
        PhysicalResourceId: GROUP_NAME,
        StackId: 'arn:aws:cloudformation:eu-west-1:111111111111:stack/Reelgate-dev/1',
        RequestId: '0198b3a0-0000-7000-8000-000000000001',
        LogicalResourceId: 'KeyGroup',
      },
    ])
  })

  it.each(['Create', 'Update'] as const)('stays as it is when %s comes again', async (requestType) => {
    await send('Create')
    const before = { text: secret.text, keys: [...cloudFront.publicKeys.keys()], held: heldKeys() }
    await send(requestType)
    expect({ text: secret.text, keys: [...cloudFront.publicKeys.keys()], held: heldKeys() }).toEqual(before)
    expect(answers[1]?.body).toEqual(answers[0]?.body)
  })

  it.each(['CreatePublicKey', 'CreateKeyGroup'])(
    'is completed by the next event after a run that broke off at %s, without a key left over',
    async (operation) => {
      jest.spyOn(console, 'error').mockImplementation(() => {})
      cloudFront.before = {
        [operation]: () => {
          throw new Error('out of order')
        },
      }
      await send('Create')
      expect(answers[0]?.body).toMatchObject({ Status: 'FAILED', Reason: 'Error' })
      cloudFront.before = {}
      await send('Create')
      expect(answers[1]?.body).toMatchObject({ Status: 'SUCCESS' })
      expect(secret.keys).toHaveLength(1)
      expect(heldKeys()).toEqual([[...cloudFront.publicKeys.keys()]])
    },
  )

  it('is that of the run that stored first when two runs of one event overlap', async () => {
    secret.beforeMove = () => {
      secret.beforeMove = () => undefined
      secret.text = JSON.stringify({ keys: [{ privateKeyPem: newPrivateKey(), createdAt: 1 }] })
    }
    await send('Create')
    expect(answers[0]?.body).toMatchObject({ Status: 'SUCCESS' })
    expect(cloudFront.publicKeys.size).toBe(1)
    expect(secret.keys).toHaveLength(1)
  })

  it('is not made, and nothing quoted, over a secret that holds something else', async () => {
    const log = jest.spyOn(console, 'error').mockImplementation(() => {})
    secret.text = 'hunter2-hunter2'
    await send('Create')
    expect(secret.text).toBe('hunter2-hunter2')
    expect(answers[0]?.body).toMatchObject({ Status: 'FAILED', Reason: 'UnexpectedSigningSecretError' })
    expect(JSON.stringify([log.mock.calls, answers])).not.toContain('hunter2')
  })
})

describe('the key group, when the stack goes', () => {
  it('goes with all its keys, and their private halves with them', async () => {
    await send('Create')
    await rotate()
    await send('Delete')
    expect({ groups: cloudFront.groups.size, publicKeys: cloudFront.publicKeys.size, keys: secret.keys }).toEqual({
      groups: 0,
      publicKeys: 0,
      keys: [],
    })
    await send('Delete')
    expect(answers.at(-1)?.body).toMatchObject({ Status: 'SUCCESS' })
  })

  it('stays, and its keys go on signing, while a distribution still trusts it', async () => {
    await send('Create')
    cloudFront.trusted.add([...cloudFront.groups.keys()][0] ?? '')
    const before = secret.text
    await send('Delete')
    expect({ text: secret.text, publicKeys: cloudFront.publicKeys.size }).toEqual({ text: before, publicKeys: 1 })
    expect(answers.at(-1)?.body).toMatchObject({ Status: 'SUCCESS' })
  })

  it('under a former name goes, and the keys that the present one holds stay', async () => {
    await send('Create', { groupName: 'former' })
    await send('Update', { physicalId: 'former' })
    expect(answers.at(-1)?.body).toMatchObject({ PhysicalResourceId: GROUP_NAME })
    await send('Delete', { groupName: 'former' })
    expect([...cloudFront.groups.values()].map(({ Name }) => Name)).toEqual([GROUP_NAME])
    expect(heldKeys()).toEqual([[secret.keys[0]?.keyPairId]])
    expect(cloudFront.publicKeys.size).toBe(1)
  })
})

describe('a rotation', () => {
  it('adds a key that signs after 15 minutes, and keeps the old one until its last url has ended', async () => {
    await send('Create')
    pass(30 * DAY)
    expect(await rotate()).toEqual(['K1 signs', expect.stringMatching(/ next$/)])
    const [, second = ''] = heldKeys()[0] ?? []
    pass(15 * MINUTE)
    expect(await list()).toEqual(['K1 verifies', `${second} signs`])
    pass(8 * DAY - 1)
    expect(await rotate()).toHaveLength(3)
    pass(1)
    await rotate()
    expect(heldKeys()[0]).not.toContain('K1')
    expect(heldKeys()[0]).toContain(second)
    expect(cloudFront.publicKeys.has('K1')).toBe(false)
    expect(secret.keys.map(({ keyPairId }) => keyPairId)).toEqual(heldKeys()[0])
  })

  it('is refused with a sentence when five keys are still needed', async () => {
    await send('Create')
    for (let rotations = 0; rotations < 4; rotations += 1) {
      pass(DAY)
      await rotate()
    }
    const before = secret.text
    expect(await rotate()).toEqual({ refused: expect.stringContaining('holds 5 keys') })
    expect(secret.text).toBe(before)
    pass(9 * DAY)
    expect(await rotate()).toHaveLength(2)
  })

  it('that broke off is completed by the next, and its key waits from then on', async () => {
    await send('Create')
    pass(DAY)
    cloudFront.before = {
      UpdateKeyGroup: () => {
        throw new Error('out of order')
      },
    }
    await expect(handler({ action: 'rotate' })).rejects.toThrow()
    expect(await list()).toEqual(['K1 signs'])
    cloudFront.before = {}
    pass(DAY)
    expect(await rotate()).toEqual(['K1 signs', expect.stringMatching(/ next$/)])
    expect(cloudFront.publicKeys.size).toBe(2)
  })

  it('gives way to a change that somebody else makes at the same time, and loses neither', async () => {
    await send('Create')
    const theirs = JSON.stringify({ keys: [...secret.keys, { privateKeyPem: newPrivateKey(), createdAt: Date.now() }] })
    secret.beforeMove = () => {
      secret.beforeMove = () => undefined
      secret.text = theirs
    }
    expect(await rotate()).toEqual({ refused: expect.stringContaining('at the same time') })
    expect(secret.text).toBe(theirs)
  })
})

describe('a key', () => {
  it('that has been succeeded can be removed at once, as after a leak', async () => {
    await send('Create')
    await rotate()
    pass(15 * MINUTE)
    expect(await states({ action: 'remove', keyPairId: 'K1' })).toEqual([expect.stringMatching(/ signs$/)])
    expect(heldKeys()[0]).toHaveLength(1)
    expect(cloudFront.publicKeys.has('K1')).toBe(false)
    expect(secret.keys).toHaveLength(1)
  })

  it('that signs, or will, cannot be removed, nor one that is not there', async () => {
    await send('Create')
    await rotate()
    const [, next] = heldKeys()[0] ?? []
    for (const keyPairId of ['K1', next, 'K999']) {
      expect(await states({ action: 'remove', keyPairId })).toEqual({
        refused: expect.stringContaining(`${keyPairId}`),
      })
    }
    expect(heldKeys()[0]).toHaveLength(2)
  })
})

describe('the function', () => {
  it('refuses an action that it does not know', async () => {
    expect(await handler({ action: 'drop' })).toEqual({ refused: expect.stringContaining('list, rotate and remove') })
    expect(await handler({})).toEqual({ refused: expect.stringContaining('list, rotate and remove') })
  })

  it('writes no private key into its log, its answers or its errors', async () => {
    const logs = (['log', 'info', 'warn', 'error', 'debug'] as const).map((level) =>
      jest.spyOn(console, level).mockImplementation(() => {}),
    )
    await send('Create')
    const results = [await handler({ action: 'rotate' }), await handler({ action: 'list' })]
    cloudFront.before = {
      CreatePublicKey: () => {
        throw new Error(secret.text)
      },
    }
    const failure = await handler({ action: 'rotate' }).catch((error: Error) => [error.message, error.stack])
    expect(JSON.stringify([logs.map((log) => log.mock.calls), answers, results, failure])).not.toContain('PRIVATE KEY')
  })

  it('answers with PUT and without a content type, as the presigned url demands', async () => {
    await send('Delete')
    expect(answers[0]?.method).toBe('PUT')
    expect(answers[0]?.headers['content-type']).toBeUndefined()
    expect(answers[0]?.headers['transfer-encoding']).toBeUndefined()
  })

  it('throws when CloudFormation did not take the answer, so that Lambda runs the event again', async () => {
    responseStatus = 403
    await expect(send('Delete')).rejects.toThrow('refused the response with status 403')
  })
})
