import { afterAll, afterEach, beforeAll, beforeEach, jest } from '@jest/globals'
import { type Loopback, listenHttp } from './http/loopback.ts'

/** The part of Secrets Manager that the secret reader calls. */
export interface FakeSecretsManager {
  /** Contents by secret id. */
  readonly secrets: Map<string, string>
  /** Returned first, one per request. */
  readonly errors: { readonly status: number; readonly __type: string }[]
  /** The requests of the test that runs: operation and secret id. */
  readonly asked: string[]
  /** Stores a secret that no other test reads: an instance keeps what it has read. @returns its id. */
  newSecret(entries: Readonly<Record<string, string>>): string
}

/** Secrets of all fakes of a file: the reader keeps what it read by its ARN. */
let made = 0

/** Serves a fake for all tests of the file, at the endpoint that the environment names. */
export function useSecretsManager(): FakeSecretsManager {
  const fake = {
    secrets: new Map<string, string>(),
    errors: [] as FakeSecretsManager['errors'],
    asked: [] as string[],
    newSecret(entries: Readonly<Record<string, string>>) {
      made += 1
      const id = `arn:secret:${made}`
      fake.secrets.set(id, JSON.stringify(entries))
      return id
    },
  }
  const before = { ...process.env }
  let service: Loopback
  beforeAll(async () => {
    service = await listenHttp(async (request, response) => {
      const { SecretId } = JSON.parse(Buffer.concat(await request.toArray()).toString('utf8'))
      fake.asked.push(`${request.headers['x-amz-target']} ${SecretId}`)
      const { status, __type } = fake.errors.shift() ?? {
        status: fake.secrets.has(SecretId) ? 200 : 400,
        __type: 'ResourceNotFoundException',
      }
      response
        .writeHead(status)
        .end(JSON.stringify(status === 200 ? { SecretString: fake.secrets.get(SecretId) } : { __type }))
    })
    Object.assign(process.env, {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_SECRETS_MANAGER: service.origin,
    })
  })
  beforeEach(() => {
    fake.asked.length = 0
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })
  afterAll(async () => {
    process.env = before
    await service.stop()
  })
  return fake
}

/** Moves the clock of the cache forward; timers keep their pace. */
export function pass(milliseconds: number): void {
  const now = Date.now() + milliseconds
  jest.spyOn(Date, 'now').mockImplementation(() => now)
}
