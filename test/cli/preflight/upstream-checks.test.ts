import { afterAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { channelSchema } from '#core/catalogue/channel.ts'
import { checkBedrockModels } from '../../../lib/cli/preflight/upstream-checks.ts'

const READY = {
  authorizationStatus: 'AUTHORIZED',
  entitlementAvailability: 'AVAILABLE',
  regionAvailability: 'AVAILABLE',
  agreementAvailability: { status: 'AVAILABLE' },
}

describe('checkBedrockModels', () => {
  const before = { ...process.env }
  const fetched = jest.spyOn(globalThis, 'fetch')
  const asked: string[] = []
  let replies: Readonly<Record<string, Response | Error>>
  beforeEach(() => {
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret' })
    asked.length = 0
    fetched.mockImplementation(async (url, init) => {
      const { authorization = '' } = Object(init?.headers)
      asked.push(`${url} ${/Credential=AKID\/\d{8}\/([\w-]+\/[\w-]+)/.exec(authorization)?.[1]}`)
      const reply = replies[new URL(String(url)).pathname] ?? new Response('{}', { status: 404 })
      if (reply instanceof Error) {
        throw reply
      }
      return reply
    })
  })
  afterAll(() => {
    fetched.mockRestore()
    process.env = before
  })

  const config = (auth: object, ...models: string[]) => ({
    channels: [
      channelSchema.parse({
        id: 'bedrock',
        provider: 'openai',
        auth: { aws: auth },
        models: Object.fromEntries(models.map((model, index) => [`model-${index}`, model])),
      }),
    ],
  })
  const json = (body: object) => new Response(JSON.stringify(body))

  it('asks Bedrock of the region of the stage for models and profiles, signed for it', async () => {
    replies = {
      '/foundation-model-availability/openai.gpt-oss-120b-1%3A0': json(READY),
      '/inference-profiles/eu.openai.gpt-6': json({ status: 'ACTIVE' }),
    }
    const models = ['openai.gpt-oss-120b-1:0', 'eu.openai.gpt-6']
    expect(await checkBedrockModels(config({ service: 'bedrock' }, ...models), 'eu-west-1')).toMatchObject([
      { check: 'models', verdict: 'ok' },
    ])
    expect(asked.toSorted()).toEqual([
      'https://bedrock.eu-west-1.amazonaws.com/foundation-model-availability/openai.gpt-oss-120b-1%3A0 eu-west-1/bedrock',
      'https://bedrock.eu-west-1.amazonaws.com/inference-profiles/eu.openai.gpt-6 eu-west-1/bedrock',
    ])
  })

  it.each([
    ['is not in the region', { ...READY, regionAvailability: 'NOT_AVAILABLE' }],
    ['was never asked for', { ...READY, agreementAvailability: { status: 'NOT_AVAILABLE' } }],
    ['is not allowed', { ...READY, authorizationStatus: 'NOT_AUTHORIZED' }],
  ])('finds a model that %s', async (_, reply) => {
    replies = { '/foundation-model-availability/m': json(reply) }
    const [found] = await checkBedrockModels(config({ service: 'bedrock' }, 'm'), 'eu-west-1')
    expect(found).toMatchObject({ verdict: 'wrong', message: expect.stringContaining('m (cannot be invoked there)') })
  })

  it('finds ids that nobody knows there', async () => {
    replies = { '/v1/models': json({ data: [{ id: 'openai.gpt-oss-120b' }] }) }
    const auth = { service: 'bedrock-mantle', region: 'us-east-1' }
    const [found] = await checkBedrockModels(config(auth, 'openai.gpt-oss-120b', 'openai.gpt-9'), 'eu-west-1')
    expect(found).toMatchObject({ verdict: 'wrong', message: expect.stringMatching(/: openai\.gpt-9 \(not listed/) })
    expect(asked).toEqual(['https://bedrock-mantle.us-east-1.api.aws/v1/models us-east-1/bedrock-mantle'])
    replies = {}
    expect(await checkBedrockModels(config({ service: 'bedrock' }, 'm'), 'eu-west-1')).toMatchObject([
      { verdict: 'wrong', message: expect.stringContaining('m (unknown there)') },
    ])
  })

  it.each([
    ['the caller may not ask', new Response('{}', { status: 403 })],
    ['nobody replies', new Error('getaddrinfo ENOTFOUND')],
  ])('warns where %s', async (_, reply) => {
    replies = { '/foundation-model-availability/m': reply }
    expect(await checkBedrockModels(config({ service: 'bedrock' }, 'm'), 'eu-west-1')).toMatchObject([
      { verdict: 'warning' },
    ])
  })

  it('asks nothing for a role of another account', async () => {
    const auth = { service: 'bedrock', role_arn: 'arn:aws:iam::111122223333:role/models' }
    expect(await checkBedrockModels(config(auth, 'm'), 'eu-west-1')).toMatchObject([{ verdict: 'ok' }])
    expect(asked).toEqual([])
  })
})
