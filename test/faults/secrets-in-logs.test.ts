import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { startP1Simulator } from '../../lib/simulators/p1.ts'
import type { Simulator, SimulatorRequest } from '../../lib/simulators/server.ts'
import { type Gateway, startGateway } from '../e2e/start-gateway.ts'
import { eventually, startReceiver } from '../e2e/video-client.ts'

const UPSTREAM_KEY = 'upstream-credential-of-this-test'
/** One pixel, which no upstream takes. */
const SMALL_IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=='
const PROMPT = 'a sentence that nobody else may read'
const MODEL = 'famB-1.1-t2v'

/** Prompts that lead a job through every kind of trouble that something could be logged about. */
const TROUBLES = [
  '',
  '[fail]',
  '[moderated]',
  '[refuse]',
  '[unauthorized]',
  '[reset]',
  '[error:500]',
  '[poll-errors]',
  '[odd-status]',
  '[not-video]',
  '[empty]',
  '[redirect:private]',
  '[cut:once]',
  '[no-url]',
  '[usage:-5]',
]

const isDownload = ({ path }: SimulatorRequest) => path.startsWith('/results/')

/** What `npm start` prints for the person who started it; everything else is a log. */
const BANNER = /^(demo key {8}|webhook secret {2}|curl -s | {2}-H 'Content-Type)/

describe('the debug logs of the local host', () => {
  let upstream: Simulator
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  let gateway: Gateway
  let tenant: { id: string; webhook_secret: string }
  let key: string
  let logs: string
  const signatures: string[] = []
  let firstRequestId = ''

  beforeAll(async () => {
    upstream = await startP1Simulator({
      apiKey: UPSTREAM_KEY,
      behaviour: { queueSeconds: 0, runSeconds: 0, pollsPerSecond: 1000 },
    })
    // Answers every callback with an error, which is something to log.
    receiver = await startReceiver(500)
    gateway = await startGateway({
      callbackOrigins: [receiver.origin],
      changeConfig: (yaml) => yaml.replace('trusted_origins: []', `trusted_origins: ["${upstream.baseUrl}"]`),
      environment: { LOG_LEVEL: 'DEBUG', P1_BASE_URL: upstream.baseUrl, P1_API_KEY: UPSTREAM_KEY },
      parameters: ['--json-logs'],
    })
    tenant = Object(await gateway.admin('tenant', 'create', '--name', 'Acme', '--credits', '50', '--open-jobs', 'none'))
    key = Object(await gateway.admin('key', 'create', '--tenant', tenant.id, '--rate', 'none')).key
    await makeTrouble()
    await gateway.stop()
    logs = gateway
      .output()
      .split('\n')
      .filter((line) => !BANNER.test(line))
      .join('\n')
  })

  afterAll(async () => {
    await gateway.kill()
    await Promise.all([upstream.close(), receiver.close()])
  })

  async function makeTrouble(): Promise<void> {
    const api = gateway.api.withKey(key)
    const body = { model: MODEL, prompt: PROMPT, callback_url: `${receiver.origin}/cb?token=of-the-callback` }
    await Promise.all([
      api.create({ ...body, model: 'unknown' }),
      api.create(`{"prompt":"${PROMPT}"`),
      api.withKey('rg_live_wrong').create(body),
      api.create({ ...body, image_urls: [`https://in.example.test/a.png?token=of-the-reference`] }),
      api.create({ ...body, model: 'famB-1.1-i2v', image_url: `${upstream.baseUrl}/small.png?token=of-the-reference` }),
      api.create({ ...body, model: 'famB-1.1-i2v', image_url: SMALL_IMAGE }),
    ])
    const made = await Promise.all(
      TROUBLES.map((trouble) =>
        api.create({ ...body, prompt: `${trouble} ${PROMPT}` }, { 'idempotency-key': trouble || 'none' }),
      ),
    )
    firstRequestId = made[0]?.headers.get('x-request-id') ?? ''
    const ids = made.map(({ json }) => String(json.id))
    const [first = '', second = ''] = ids
    const job = await api.until(first, 'succeeded')
    signatures.push(new URL(String(job.url)).searchParams.get('Signature') ?? '')
    await api.delete(second)
    await Promise.all(
      ids
        .filter((id) => id !== second && id !== ids[TROUBLES.indexOf('[cut:once]')])
        .map((id) => api.until(id, 'succeeded', 'failed')),
    )
    await eventually(
      async () => receiver.received.length,
      (count) => count > TROUBLES.length / 2,
    )
    await api.list('?limit=100')
    await gateway.admin('key', 'revoke', '--key', key.split('_')[2] ?? '')
    await api.list()
  }

  it('have lines of every part', () => {
    for (const part of [
      '"request"',
      '"submitted"',
      '"store failed"',
      '"job resolved"',
      'channel refused',
      'reference not read',
      'reference refused',
    ]) {
      expect(logs).toContain(part)
    }
  })

  it('have the creating request id in the lines of every step, and send it to the upstream and the receiver', () => {
    expect(firstRequestId).not.toBe('')
    const lines = logs.split('\n').filter((line) => line.includes(firstRequestId))
    for (const message of ['request', 'execution started', 'submitted', 'job resolved', 'callback sent']) {
      expect(lines.filter((line) => line.includes(`"message":"${message}"`))).toHaveLength(1)
    }
    const asked = upstream.requests.filter(({ headers }) => headers['x-client-request-id'] === firstRequestId)
    expect(new Set(asked.map(({ method }) => method))).toEqual(new Set(['POST', 'GET']))
    const downloads = upstream.requests.filter(isDownload)
    expect(downloads).not.toEqual([])
    expect(downloads.filter(({ headers }) => headers['x-client-request-id'] !== undefined)).toEqual([])
    expect(receiver.received.filter(({ headers }) => headers['x-request-id'] === firstRequestId)).toHaveLength(1)
  })

  it.each<[string, () => string[]]>([
    ['API key', () => [key, 'e2e-key', 'rg_live_']],
    ['Authorization header', () => ['uthorization', 'Bearer']],
    ['callback secret', () => [tenant.webhook_secret, 'whsec_', 'v1,']],
    ['signature of a url', () => [...signatures, 'Signature=', 'Key-Pair-Id=']],
    ['upstream credential', () => [UPSTREAM_KEY]],
    ['word of a prompt', () => [PROMPT, 'nobody else']],
    [
      'query, name or bytes of a reference, or query of a callback url',
      () => ['of-the-reference', 'small.png', SMALL_IMAGE, 'of-the-callback'],
    ],
    ['private key', () => ['PRIVATE KEY']],
  ])('contain no %s', (_, secrets) => {
    for (const secret of secrets()) {
      expect(secret).not.toBe('')
      expect(logs.split('\n').filter((line) => line.includes(secret))).toEqual([])
    }
  })
})
