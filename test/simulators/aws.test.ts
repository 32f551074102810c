import { AssumeRoleCommand, GetWebIdentityTokenCommand, STSClient } from '@aws-sdk/client-sts'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type SigningScope, signRequest } from '#platform/aws/signature-v4.ts'
import { SimulatedAccount, type SimulatedCredentials } from '../../lib/simulators/aws-account.ts'
import { bedrockDoor } from '../../lib/simulators/doors.ts'
import { type IdentitySimulator, startIdentitySimulator } from '../../lib/simulators/identity.ts'
import { startOpenAiSimulator } from '../../lib/simulators/openai.ts'
import type { Simulator } from '../../lib/simulators/server.ts'

const REGION = 'us-east-1'
const IDS = { identity_provider_id: 'idp_1', service_account_id: 'sa_1' }
const ANTHROPIC_IDS = { federation_rule_id: 'fdrl_1', organization_id: 'org_1', service_account_id: 'svac_1' }

describe('Simulated AWS', () => {
  const account = new SimulatedAccount()
  let identity: IdentitySimulator
  let bedrock: Simulator
  beforeAll(async () => {
    const clients = [
      { provider: 'openai', ids: IDS },
      { provider: 'anthropic', ids: ANTHROPIC_IDS },
    ] as const
    identity = await startIdentitySimulator({ account, region: REGION, clients })
    bedrock = await startOpenAiSimulator({
      refuse: bedrockDoor(account, { service: 'bedrock', region: REGION, roleArn: account.roleArn }),
    })
  })
  afterAll(() => Promise.all([identity.close(), bedrock.close()]))

  const sts = (credentials: SimulatedCredentials) =>
    new STSClient({ region: REGION, endpoint: identity.baseUrl, credentials, maxAttempts: 1 })

  it('gives the SDK sessions of roles and tokens, as STS does', async () => {
    const RoleArn = 'arn:aws:iam::999988887777:role/models'
    const client = sts(account.issue())
    const { Credentials } = await client.send(new AssumeRoleCommand({ RoleArn, RoleSessionName: 'reelgate' }))
    expect(Credentials).toMatchObject({ AccessKeyId: expect.stringMatching(/^ASIA/), Expiration: expect.any(Date) })
    const asked = { Audience: ['https://api.example.com'], SigningAlgorithm: 'RS256', DurationSeconds: 300 }
    const { WebIdentityToken = '' } = await client.send(new GetWebIdentityTokenCommand(asked))
    expect(account.identityOf(WebIdentityToken)).toMatchObject({ audience: 'https://api.example.com' })
    await expect(client.send(new GetWebIdentityTokenCommand({ ...asked, DurationSeconds: 30 }))).rejects.toMatchObject({
      name: 'ValidationError',
    })
  })

  it('refuses the SDK with credentials that it has not issued', async () => {
    const foreign = new SimulatedAccount().issue()
    const asked = { Audience: ['a'], SigningAlgorithm: 'RS256', DurationSeconds: 300 }
    await expect(sts(foreign).send(new GetWebIdentityTokenCommand(asked))).rejects.toMatchObject({
      name: 'UnrecognizedClient',
    })
  })

  type Changes = Partial<SigningScope> & { readonly sent?: string; readonly without?: string }

  /** Posts a chat to Bedrock with a signature. @returns the status and the name of the error. */
  async function chat({ sent, without = '', ...scope }: Changes = {}) {
    const path = '/v1/chat/completions'
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })
    const { host } = new URL(bedrock.baseUrl)
    const { host: _, ...headers } = signRequest(
      { path, headers: { host, 'content-type': 'application/json' }, body },
      { service: 'bedrock', region: REGION, credentials: account.issue(), nowMilliseconds: Date.now(), ...scope },
    )
    const kept = Object.entries(headers).filter(([name]) => name !== without)
    const response = await fetch(`http://${host}${path}`, {
      method: 'POST',
      headers: Object.fromEntries(kept),
      body: sent ?? body,
    })
    await response.text()
    return [response.status, response.headers.get('x-amzn-errortype')]
  }

  const ended = () => {
    const issued = account.issue()
    account.expire(issued)
    return issued
  }

  it.each<[string, () => Changes, [number, string | null]]>([
    ['a whole signature', () => ({}), [200, null]],
    ['another region', () => ({ region: 'eu-west-1' }), [403, 'InvalidSignatureException']],
    ['another service', () => ({ service: 'sts' }), [403, 'InvalidSignatureException']],
    ['another body', () => ({ sent: '{"model":"m","messages":[]}' }), [403, 'InvalidSignatureException']],
    ['an old signature', () => ({ nowMilliseconds: Date.now() - 400_000 }), [403, 'InvalidSignatureException']],
    [
      'another secret',
      () => ({ credentials: { ...account.issue(), secretAccessKey: 'guessed' } }),
      [403, 'InvalidSignatureException'],
    ],
    ['ended credentials', () => ({ credentials: ended() }), [403, 'ExpiredTokenException']],
    [
      'credentials of another account',
      () => ({ credentials: new SimulatedAccount().issue() }),
      [403, 'UnrecognizedClientException'],
    ],
    ['no session token', () => ({ without: 'x-amz-security-token' }), [403, 'UnrecognizedClientException']],
    ['no signature', () => ({ without: 'authorization' }), [403, 'MissingAuthenticationTokenException']],
    [
      'another role of the account',
      () => ({ credentials: account.issue('arn:aws:iam::111122223333:role/other') }),
      [403, 'AccessDeniedException'],
    ],
  ])('Bedrock judges %s', async (_, changes, outcome) => {
    expect(await chat(changes())).toEqual(outcome)
  })

  async function exchange(provider: 'openai' | 'anthropic', fields: Record<string, string>, headers = {}) {
    const isForm = provider === 'openai'
    const response = await fetch(identity.tokenUrl(provider), {
      method: 'POST',
      headers: {
        'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
        'anthropic-beta': 'oauth-2025-04-20,oidc-federation-2026-04-01',
        ...headers,
      },
      body: isForm ? new URLSearchParams(fields).toString() : JSON.stringify(fields),
    })
    const body = Object(await response.json())
    return [response.status, body.error?.type ?? body.error ?? typeof body.access_token]
  }

  const OPENAI = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    ...IDS,
  }
  const ANTHROPIC = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', ...ANTHROPIC_IDS }
  const token = (audience: string, seconds = 300) => account.issueToken(account.roleArn, audience, seconds)

  it('OpenAI exchanges a token of a known identity that is meant for it, and no other', async () => {
    const subject_token = token('https://api.openai.com/v1')
    expect(await exchange('openai', { ...OPENAI, subject_token })).toEqual([200, 'string'])
    const refused = [400, 'invalid_grant']
    expect(await exchange('openai', { ...OPENAI, subject_token, service_account_id: 'sa_2' })).toEqual(refused)
    expect(await exchange('openai', { ...OPENAI, subject_token: token('https://api.anthropic.com') })).toEqual(refused)
    expect(await exchange('openai', { ...OPENAI, subject_token: token('https://api.openai.com/v1', -1) })).toEqual(
      refused,
    )
    expect(await exchange('openai', { ...OPENAI, subject_token: `${subject_token}x` })).toEqual(refused)
    expect(await exchange('openai', { ...OPENAI, subject_token }, { 'content-type': 'application/json' })).toEqual([
      400,
      'invalid_request',
    ])
  })

  it('Anthropic exchanges an assertion that a federation rule matches, with both betas', async () => {
    const assertion = token('https://api.anthropic.com')
    expect(await exchange('anthropic', { ...ANTHROPIC, assertion })).toEqual([200, 'string'])
    expect(await exchange('anthropic', { ...ANTHROPIC, assertion, organization_id: 'org_2' })).toEqual([
      401,
      'authentication_error',
    ])
    expect(await exchange('anthropic', { ...ANTHROPIC, assertion: 'x'.repeat(16_385) })).toEqual([
      400,
      'invalid_request_error',
    ])
    const headers = { 'anthropic-beta': 'oauth-2025-04-20' }
    expect(await exchange('anthropic', { ...ANTHROPIC, assertion }, headers)).toEqual([404, 'not_found_error'])
  })
})
