import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceExistsException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { handler } from '#lambdas/cdn-signing-key/handler.ts'

type Answer = { headers: IncomingHttpHeaders; method: string | undefined; body: Record<string, unknown> }

const SECRET_ARN = 'arn:aws:secretsmanager:eu-west-1:111111111111:secret:cdn-AbCdEf'
const secretsManager = mockClient(SecretsManagerClient)
const answers: Answer[] = []
let responseStatus = 200
let server: Server

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      answers.push({
        headers: request.headers,
        method: request.method,
        body: JSON.parse(Buffer.concat(chunks).toString('utf8')),
      })
      response.writeHead(responseStatus).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
})

beforeEach(() => {
  secretsManager.reset()
  answers.length = 0
  responseStatus = 200
})

function isAddress(address: ReturnType<Server['address']>): address is AddressInfo {
  return typeof address === 'object' && address !== null
}

function eventOf(requestType: 'Create' | 'Update' | 'Delete'): CloudFormationCustomResourceEvent {
  const address = server.address()
  const port = isAddress(address) ? address.port : 0
  const common = {
    ServiceToken: 'arn:aws:lambda:eu-west-1:111111111111:function:key',
    ResponseURL: `http://127.0.0.1:${port}/answer?signature=abc`,
    StackId: 'arn:aws:cloudformation:eu-west-1:111111111111:stack/Reelgate-dev/1',
    RequestId: '0198b3a0-0000-7000-8000-000000000001',
    LogicalResourceId: 'KeyPair',
    ResourceType: 'Custom::CdnSigningKey',
    ResourceProperties: { ServiceToken: 'token', SecretArn: SECRET_ARN },
  }
  switch (requestType) {
    case 'Create':
      return { ...common, RequestType: 'Create' }
    case 'Update':
      return {
        ...common,
        RequestType: 'Update',
        PhysicalResourceId: 'kept',
        OldResourceProperties: common.ResourceProperties,
      }
    case 'Delete':
      return { ...common, RequestType: 'Delete', PhysicalResourceId: 'kept' }
  }
}

function storedPrivateKey(): { privateKeyPem: string; publicKeyPem: string } {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const publicKeyPem = createPublicKey(privateKeyPem).export({ type: 'spki', format: 'pem' }).toString()
  return { privateKeyPem, publicKeyPem }
}

function putInputs() {
  return secretsManager.commandCalls(PutSecretValueCommand).map((call) => call.args[0].input)
}

describe('CDN signing key', () => {
  it('stores a fresh RSA-2048 private key in the empty secret and answers its public half', async () => {
    secretsManager.on(GetSecretValueCommand).resolves({ SecretString: '{}' })
    secretsManager.on(PutSecretValueCommand).resolves({})

    await handler(eventOf('Create'))

    const [put] = putInputs()
    const { privateKeyPem } = JSON.parse(put?.SecretString ?? '{}')
    const publicKey = createPublicKey(privateKeyPem)
    expect(put).toMatchObject({ SecretId: SECRET_ARN, ClientRequestToken: '0198b3a0-0000-7000-8000-000000000001' })
    expect(publicKey.asymmetricKeyDetails?.modulusLength).toBe(2048)
    expect(answers).toHaveLength(1)
    expect(answers[0]?.body).toEqual({
      Status: 'SUCCESS',
      Data: { PublicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }) },
      PhysicalResourceId: 'cdn-signing-key',
      StackId: 'arn:aws:cloudformation:eu-west-1:111111111111:stack/Reelgate-dev/1',
      RequestId: '0198b3a0-0000-7000-8000-000000000001',
      LogicalResourceId: 'KeyPair',
    })
  })

  it('answers with PUT and without a content type, as the presigned url demands', async () => {
    await handler(eventOf('Delete'))

    expect(answers[0]?.method).toBe('PUT')
    expect(answers[0]?.headers['content-type']).toBeUndefined()
    expect(answers[0]?.headers['transfer-encoding']).toBeUndefined()
  })

  it.each(['Create', 'Update'] as const)('%s keeps a key that is already stored', async (requestType) => {
    const { privateKeyPem, publicKeyPem } = storedPrivateKey()
    secretsManager.on(GetSecretValueCommand).resolves({ SecretString: JSON.stringify({ privateKeyPem }) })

    await handler(eventOf(requestType))

    expect(putInputs()).toHaveLength(0)
    expect(answers[0]?.body).toMatchObject({ Status: 'SUCCESS', Data: { PublicKeyPem: publicKeyPem } })
  })

  it('keeps the physical id of an update, so that nothing is replaced', async () => {
    const { privateKeyPem } = storedPrivateKey()
    secretsManager.on(GetSecretValueCommand).resolves({ SecretString: JSON.stringify({ privateKeyPem }) })

    await handler(eventOf('Update'))

    expect(answers[0]?.body.PhysicalResourceId).toBe('kept')
  })

  it('answers the key of the run that stored first when two runs of one event overlap', async () => {
    const { privateKeyPem, publicKeyPem } = storedPrivateKey()
    secretsManager
      .on(GetSecretValueCommand)
      .resolvesOnce({ SecretString: '{}' })
      .resolves({ SecretString: JSON.stringify({ privateKeyPem }) })
    secretsManager
      .on(PutSecretValueCommand)
      .rejects(new ResourceExistsException({ message: 'version exists', $metadata: {} }))

    await handler(eventOf('Create'))

    expect(answers[0]?.body).toMatchObject({ Status: 'SUCCESS', Data: { PublicKeyPem: publicKeyPem } })
  })

  it('leaves the key in place on Delete', async () => {
    await handler(eventOf('Delete'))

    expect(secretsManager.calls()).toHaveLength(0)
    expect(answers[0]?.body).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: 'kept' })
  })

  it('fails without overwriting and without quoting a secret that holds something else', async () => {
    const log = jest.spyOn(console, 'error').mockImplementation(() => {})
    secretsManager.on(GetSecretValueCommand).resolves({ SecretString: 'hunter2-hunter2' })

    await handler(eventOf('Create'))

    expect(putInputs()).toHaveLength(0)
    expect(answers[0]?.body).toMatchObject({ Status: 'FAILED', Reason: 'UnexpectedSecretError' })
    expect(JSON.stringify([log.mock.calls, answers])).not.toContain('hunter2')
    log.mockRestore()
  })

  it('writes no key into its log or its answer', async () => {
    const logs = (['log', 'info', 'warn', 'error', 'debug'] as const).map((level) =>
      jest.spyOn(console, level).mockImplementation(() => {}),
    )
    secretsManager.on(GetSecretValueCommand).resolves({ SecretString: '{}' })
    secretsManager.on(PutSecretValueCommand).resolves({})

    await handler(eventOf('Create'))

    expect(JSON.stringify([logs.map((log) => log.mock.calls), answers])).not.toContain('PRIVATE KEY')
    for (const log of logs) {
      log.mockRestore()
    }
  })

  it('throws when CloudFormation did not take the answer, so that Lambda runs the event again', async () => {
    responseStatus = 403

    await expect(handler(eventOf('Delete'))).rejects.toThrow('refused with status 403')
  })
})
