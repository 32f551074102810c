import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import * as fc from 'fast-check'
import type { AwsAuth, RelayChannel, WorkloadIdentity } from '#core/catalogue/channel.ts'
import { UpstreamFailedError } from '#core/errors.ts'
import { Breakers } from '#lambdas/relay/breakers.ts'
import { credential, renewed } from '#lambdas/relay/channel-credential.ts'
import { callUpstream } from '#lambdas/relay/failover.ts'
import { takeRoleFrom } from '#platform/aws/sts.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { authState } from '#platform/upstream-auth/upstream-auth.ts'
import { createUpstreamConnections, type UpstreamConnections } from '#upstream/providers/openai.ts'
import { SimulatedAccount, type SimulatedCredentials } from '../../lib/simulators/aws-account.ts'
import { bedrockDoor, providerDoor } from '../../lib/simulators/doors.ts'
import { type IdentitySimulator, startIdentitySimulator } from '../../lib/simulators/identity.ts'
import { type CallerRefusal, type OpenAiSimulatorOptions, startOpenAiSimulator } from '../../lib/simulators/openai.ts'
import type { Simulator } from '../../lib/simulators/server.ts'
import { waitUntil } from '../runner/wait-until.ts'
import { fakeExchange } from './fake-exchange.ts'
import { httpAnswer, startRawUpstream } from './raw-upstream.ts'
import { relayChannel } from './relay-channel.ts'

const REGION = 'eu-central-1'

describe('A channel without a key', () => {
  const before = { ...process.env }
  const logged: unknown[][] = []
  let account: SimulatedAccount
  let session: SimulatedCredentials
  let identity: IdentitySimulator
  let connections: UpstreamConnections
  let stops: (() => Promise<void>)[]
  let clock: number
  let clients: { provider: 'openai' | 'anthropic'; ids: Record<string, string> }[]

  beforeEach(async () => {
    clock = Date.now()
    jest.spyOn(Date, 'now').mockImplementation(() => clock)
    for (const level of ['info', 'warn', 'error'] as const) {
      jest.spyOn(logger, level).mockImplementation((...line: unknown[]) => void logged.push([level, ...line]))
    }
    logged.length = 0
    clients = []
    account = new SimulatedAccount()
    session = account.issue()
    identity = await startIdentitySimulator({ account, region: REGION, clients })
    Object.assign(process.env, { AWS_REGION: REGION, AWS_ENDPOINT_URL_STS: identity.baseUrl })
    takeRoleFrom(async () => session)
    connections = createUpstreamConnections()
    stops = [identity.close]
  })
  afterEach(async () => {
    connections.close()
    await Promise.all(stops.map((stop) => stop()))
    process.env = { ...before }
    jest.restoreAllMocks()
  })

  async function upstream(refuse: OpenAiSimulatorOptions['refuse']): Promise<Simulator> {
    const started = await startOpenAiSimulator({ refuse, gapMilliseconds: 0 })
    stops.push(started.close)
    return started
  }

  async function bedrock(signedFor: { service?: string; region?: string; roleArn?: string } = {}) {
    const { service = 'bedrock', region = REGION, roleArn = account.roleArn } = signedFor
    return await upstream(bedrockDoor(account, { service, region, roleArn }))
  }

  function signing({ baseUrl }: { baseUrl: string }, aws: Partial<AwsAuth> = {}, id = 'bedrock'): RelayChannel {
    return relayChannel(id, { base_url: baseUrl, auth: { aws: { service: 'bedrock', region: REGION, ...aws } } })
  }

  /** An identity of its own for each test, since tokens are kept by process. */
  function openaiIdentity(): WorkloadIdentity {
    const ids = { identity_provider_id: `idp_${crypto.randomUUID()}`, service_account_id: 'sa_1' }
    clients.push({ provider: 'openai', ids })
    return { provider: 'openai', ...ids, token_url: identity.tokenUrl('openai') }
  }

  function exchanging({ baseUrl }: { baseUrl: string }, workload_identity: WorkloadIdentity): RelayChannel {
    return relayChannel('federated', { base_url: baseUrl, auth: { workload_identity } })
  }

  async function call(channels: readonly RelayChannel[], path = '/chat/completions') {
    const context = {
      currentCatalogue: { read: async () => ({ relayChannels: () => channels }) },
      breakers: new Breakers(),
      connections,
      credential,
      renewedCredential: renewed,
      random: () => 0,
      nowMilliseconds: () => clock,
    }
    const body = { model: 'gpt', messages: [{ role: 'user', content: 'ünïcode 😀' }] }
    return await callUpstream(
      context,
      {
        exchange: fakeExchange(),
        modelId: 'chat',
        write: () => ({ path, text: JSON.stringify(body), headers: { 'anthropic-beta': 'own-beta' } }),
        deadline: performance.now() + 60_000,
      },
      async (reply) => {
        const chunks: Buffer[] = []
        for await (const chunk of reply.body) {
          chunks.push(chunk)
        }
        const text = reply.withoutCredentials(Buffer.concat(chunks).toString('utf8'))
        return { status: reply.status, channel: reply.channel.id, attempts: reply.attempts, text }
      },
    )
  }

  const failureOf = (outcome: Promise<unknown>) => outcome.catch((error: unknown) => error)
  const reasons = () => logged.map(([, , facts]) => Object(facts).reason)
  const stsActions = () =>
    identity.requests.flatMap(({ path, body }) =>
      path === '/' ? [new URLSearchParams(String(body)).get('Action')] : [],
    )

  describe('that signs', () => {
    it.each(['bedrock', 'bedrock-mantle'] as const)(
      'is served by %s, which verifies the signature',
      async (service) => {
        const server = await bedrock({ service })
        expect(await call([signing(server, { service })])).toMatchObject({ status: 200, attempts: 1 })
      },
    )

    it('signs any path as AWS does', async () => {
      const server = await bedrock()
      const path = '/model/a:b(1)*~ä%20/v1/chat/completions'
      expect(await call([signing(server)], path)).toMatchObject({ status: 200 })
    })

    it.each([
      ['another region', { region: 'us-east-1' }, 'HTTP 403 InvalidSignatureException'],
      ['another service', { service: 'bedrock-mantle' }, 'HTTP 403 InvalidSignatureException'],
      ['another role', { roleArn: 'arn:aws:iam::111122223333:role/other' }, 'HTTP 403 AccessDeniedException'],
    ])('is refused where %s is needed, and the next channel serves', async (_, needed, reason) => {
      const [refusing, server] = [await bedrock(needed), await bedrock()]
      const outcome = await call([signing(refusing), signing(server, {}, 'next')])
      expect(outcome).toMatchObject({ status: 200, channel: 'next', attempts: 2 })
      expect(reasons()).toEqual([reason])
      expect(refusing.requests).toHaveLength(1)
    })

    it('tells the permission that is missing to the log alone', async () => {
      const server = await bedrock({ roleArn: 'arn:aws:iam::111122223333:role/other' })
      const error = await failureOf(call([signing(server)]))
      expect(error).toMatchObject({ name: 'UpstreamFailedError', kind: { code: 'upstream_auth' } })
      expect(JSON.stringify([error, String(error)])).not.toMatch(/arn:aws|bedrock:InvokeModel/)
      expect(JSON.stringify(logged)).toContain('is not authorized to perform: bedrock:InvokeModel')
    })

    it('signs once more when its credentials have ended and there are newer ones', async () => {
      const server = await bedrock()
      const ended = session
      account.expire(ended)
      takeRoleFrom(async () => (server.requests.length === 0 ? ended : session))
      session = account.issue()
      expect(await call([signing(server)])).toMatchObject({ status: 200, attempts: 1 })
      expect(server.requests).toHaveLength(2)
    })

    it('does not repeat a request that ended credentials signed, without newer ones', async () => {
      const server = await bedrock()
      account.expire(session)
      expect(await failureOf(call([signing(server)]))).toBeInstanceOf(UpstreamFailedError)
      expect(server.requests).toHaveLength(1)
      expect(reasons()).toEqual(['HTTP 403 ExpiredTokenException'])
    })

    it.each([
      ['in a header', 403, { 'x-amzn-errortype': 'ExpiredTokenException:http://x/' }, {}],
      ['in the type of the body', 400, {}, { __type: 'com.amazon.coral.service#ExpiredTokenException' }],
      ['in the code of an error', 401, {}, { error: { code: 'expired_token', message: 'expired' } }],
    ])('reads %s that its credentials have ended', async (_, status, headers, body) => {
      let isFirst = true
      const server = await upstream((): CallerRefusal | undefined => {
        const refused = isFirst ? { status, headers: headers as Record<string, string>, body } : undefined
        isFirst = false
        return refused
      })
      takeRoleFrom(async () => (server.requests.length === 0 ? session : account.issue()))
      expect(await call([signing(server)])).toMatchObject({ status: 200, attempts: 1 })
    })

    it('shows a client neither ARNs nor signatures of a refused request', async () => {
      const arn = 'arn:aws:bedrock:eu-central-1:111122223333:application-inference-profile/abc'
      const server = await upstream(({ headers }) => ({
        status: 400,
        body: { message: `model ${arn} is not supported on this route; ${headers.authorization}` },
      }))
      const { text } = await call([signing(server)])
      expect(text).toContain('is not supported on this route')
      expect(text).not.toMatch(/arn:aws|111122223333|[0-9a-f]{64}/)
    })

    it('follows no redirect', async () => {
      const raw = await startRawUpstream(
        ({ socket }) =>
          void socket.write(httpAnswer(307, '{}').replace('\r\n', '\r\nLocation: http://127.0.0.1:9/\r\n')),
      )
      stops.push(raw.stop)
      expect(await failureOf(call([signing({ baseUrl: `${raw.origin}/v1` })]))).toBeInstanceOf(UpstreamFailedError)
    })
  })

  describe('that assumes a role', () => {
    const roleArn = 'arn:aws:iam::999988887777:role/models'
    const assuming = (server: Simulator, external_id: string) => signing(server, { role_arn: roleArn, external_id })

    it('assumes it once for all requests, and tells when the session ends', async () => {
      const server = await bedrock({ roleArn })
      const channel = assuming(server, 'once')
      await Promise.all([call([channel]), call([channel])])
      await call([channel])
      expect(stsActions()).toEqual(['AssumeRole'])
      expect(new URLSearchParams(String(identity.requests[0]?.body)).get('ExternalId')).toBe('once')
      expect(authState(channel).expiresAt).toBe(Math.floor(clock) + 3_600_000)
    })

    it('assumes it again beside requests, before the session ends', async () => {
      const server = await bedrock({ roleArn })
      const channel = assuming(server, 'beside')
      await call([channel])
      clock += 56 * 60_000
      // The old session signs, whatever becomes of the new one.
      identity.failWith(500)
      expect(await call([channel])).toMatchObject({ status: 200 })
      identity.failWith(undefined)
      clock += 6_000
      await call([channel])
      await waitUntil(() => (authState(channel).expiresAt ?? 0) > clock + 3_000_000)
    })

    it('assumes it anew when the session was ended', async () => {
      const server = await bedrock({ roleArn })
      const channel = assuming(server, 'anew')
      await call([channel])
      const [, accessKeyId = ''] = /Credential=(\w+)/.exec(String(server.requests[0]?.headers.authorization)) ?? []
      account.expire({ accessKeyId })
      expect(await call([channel])).toMatchObject({ status: 200, attempts: 1 })
      expect(stsActions()).toEqual(['AssumeRole', 'AssumeRole'])
    })

    it('that may not be assumed fails as a channel, and the next one serves', async () => {
      const server = await bedrock()
      account.expire(session)
      const next = relayChannel('next', { base_url: (await upstream(() => undefined)).baseUrl })
      expect(await call([assuming(server, 'denied'), next])).toMatchObject({ status: 200, channel: 'next' })
      expect(logged).toMatchObject([['error', 'channel refused', { details: 'ExpiredToken' }]])
      expect(server.requests).toEqual([])
    })
  })

  describe('that exchanges tokens', () => {
    it('sends a token of the provider, got once for requests at the same time', async () => {
      const server = await upstream(providerDoor(identity, 'openai'))
      const channel = exchanging(server, openaiIdentity())
      const outcomes = await Promise.all([call([channel]), call([channel]), call([channel])])
      expect(outcomes.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(stsActions()).toEqual(['GetWebIdentityToken'])
      expect(identity.requests.map(({ path }) => path)).toEqual(['/', '/oauth/token'])
      expect(authState(channel).expiresAt).toBe(clock + 3_600_000)
    })

    it('sends Anthropic its token as a bearer, with the betas of the client and of tokens', async () => {
      const ids = { federation_rule_id: 'fdrl_1', organization_id: 'org-1', service_account_id: 'svac_1' }
      clients.push({ provider: 'anthropic', ids })
      const token_url = identity.tokenUrl('anthropic')
      const server = await upstream(providerDoor(identity, 'anthropic'))
      const channel = exchanging(server, { provider: 'anthropic', ...ids, token_url })
      expect(await call([channel])).toMatchObject({ status: 200 })
      const { headers } = server.requests[0] ?? { headers: {} }
      expect(headers).toMatchObject({ 'anthropic-beta': 'own-beta,oauth-2025-04-20' })
      expect(headers).not.toHaveProperty('x-api-key')
    })

    it('renews its token beside requests after two thirds of its life', async () => {
      const server = await upstream(providerDoor(identity, 'openai'))
      const channel = exchanging(server, openaiIdentity())
      await call([channel])
      clock += 41 * 60_000
      identity.failWith(503)
      // The token is still valid, so no request waits for the next one or fails without it.
      expect(await call([channel])).toMatchObject({ status: 200 })
      identity.failWith(undefined)
      clock += 6_000
      expect(await call([channel])).toMatchObject({ status: 200 })
      await waitUntil(() => authState(channel).expiresAt === clock + 3_600_000)
    })

    it('gets another token after a 401, and repeats the request once', async () => {
      const server = await upstream(providerDoor(identity, 'openai'))
      const channel = exchanging(server, openaiIdentity())
      await call([channel])
      identity.revokeTokens()
      expect(await call([channel])).toMatchObject({ status: 200, attempts: 1 })
      expect(server.requests).toHaveLength(3)
    })

    it('repeats a request once alone where every token is refused', async () => {
      const server = await upstream(() => ({ status: 401, body: { error: { code: 'invalid_api_key' } } }))
      const channel = exchanging(server, openaiIdentity())
      expect(await failureOf(call([channel]))).toBeInstanceOf(UpstreamFailedError)
      expect(server.requests).toHaveLength(2)
      expect(await failureOf(call([channel]))).toBeInstanceOf(UpstreamFailedError)
      // A moment later it asks for no third token.
      expect(server.requests).toHaveLength(3)
      expect(stsActions()).toHaveLength(2)
    })

    it.each([['does not know it', 400]])(
      'fails where the token endpoint %s, and the next channel serves',
      async (_, status) => {
        const server = await upstream(providerDoor(identity, 'openai'))
        const unknown = { ...openaiIdentity(), service_account_id: 'sa_unknown' }
        const next = relayChannel('next', { base_url: (await upstream(() => undefined)).baseUrl })
        expect(await call([exchanging(server, unknown), next])).toMatchObject({ status: 200, channel: 'next' })
        expect(server.requests).toEqual([])
        const details = `the token endpoint refused: HTTP ${status}${status === 400 ? ' invalid_grant' : ''}`
        expect(logged).toMatchObject([['error', 'channel refused', { reason: 'credential not available', details }]])
      },
    )

    it('asks a failing endpoint again after a pause, not for each request', async () => {
      const server = await upstream(providerDoor(identity, 'openai'))
      const channel = exchanging(server, openaiIdentity())
      identity.failWith(500)
      await failureOf(call([channel]))
      await failureOf(call([channel]))
      expect(identity.requests).toHaveLength(1)
      identity.failWith(undefined)
      clock += 5_000
      expect(await call([channel])).toMatchObject({ status: 200 })
    })
  })

  it('shows no token, key or signature in a log, an error or a refusal, whatever its upstream repeats', async () => {
    let form = { status: 400, where: 0, how: 0 }
    const seen = new Set<string>()
    const echo = ({ headers }: { headers: Record<string, unknown> }): CallerRefusal => {
      const { authorization = '', 'x-amz-security-token': token = '' } = headers
      const [keyId = '', signature = ''] =
        /^AWS4.*Credential=(\w+).*Signature=(.*)$/.exec(String(authorization))?.slice(1) ?? []
      const bearer = String(authorization).replace(/^Bearer /, '')
      const secrets = [String(token), signature, keyId, signature === '' ? bearer : ''].filter((each) => each !== '')
      for (const secret of secrets) {
        seen.add(secret)
      }
      const said =
        [secrets.join(' '), encodeURIComponent(secrets.join(' ')), `"${secrets.join('","')}"`][form.how] ?? ''
      const body = [
        { error: { message: said, code: secrets[0], type: secrets[1] } },
        { message: said, __type: `AccessDeniedException`, code: secrets.at(-1) },
        { error: { message: 'no', code: 'expired_token' }, details: said },
      ][form.where]
      return { status: form.status, body: body ?? {} }
    }
    const server = await upstream((request) => echo(request))
    const channels = [signing(server), exchanging(server, openaiIdentity())]
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          status: fc.constantFrom(400, 401, 403, 404, 413, 422, 429, 500, 503),
          where: fc.nat(2),
          how: fc.nat(2),
        }),
        fc.constantFrom(...channels),
        async (made, channel) => {
          form = made
          clock += 20_000
          const outcome = await call([channel]).catch((error: unknown) => [String(error), JSON.stringify(error)])
          const told = JSON.stringify([outcome, logged])
          for (const secret of [...seen, session.secretAccessKey, session.sessionToken]) {
            expect(told).not.toContain(secret)
            expect(told).not.toContain(encodeURIComponent(secret))
          }
          logged.length = 0
        },
      ),
      { numRuns: 60 },
    )
    expect(seen.size).toBeGreaterThan(10)
  })
})
