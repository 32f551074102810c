import { beforeEach, describe, expect, it, vi } from 'vitest'
import { checkWebFunctions } from '../../../lib/cli/preflight/account-checks.ts'

const fetched = vi.fn<typeof fetch>()

beforeEach(() => {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' })
  fetched.mockReset()
  globalThis.fetch = fetched
})

const quotas = (maxTotalArmVCpus: number) =>
  Response.json({ accountQuotas: { maxTotalArmVCpus, maxTotalRateLimit: 100_000 }, accountUsage: {} })

describe('the check of Web Functions', () => {
  it('asks the region with a signed request, and says what it allows', async () => {
    fetched.mockResolvedValue(quotas(2000))
    expect(await checkWebFunctions('eu-west-1')).toMatchObject([
      { verdict: 'ok', message: 'eu-west-1 allows 1000 environments of Web Functions and 100000 requests a second' },
    ])
    const [url, init] = fetched.mock.calls[0] ?? []
    expect(url).toBe('https://lambda.eu-west-1.amazonaws.com/2025-03-07/web-account-settings')
    const { authorization } = (init?.headers ?? {}) as { authorization?: string }
    expect(authorization).toMatch(
      /Credential=key\/\d{8}\/eu-west-1\/lambda\/aws4_request, SignedHeaders=host;x-amz-date/,
    )
  })

  it('finds a quota that leaves no room for a release', async () => {
    fetched.mockResolvedValue(quotas(4))
    expect(await checkWebFunctions('eu-west-1')).toMatchObject([{ verdict: 'wrong' }])
  })

  it.each([
    ['has no such API', async () => new Response('UnknownOperationException', { status: 404 })],
    ['cannot be reached', () => Promise.reject(new Error('getaddrinfo ENOTFOUND'))],
  ])('says so when the region %s', async (_how, answer) => {
    fetched.mockImplementation(answer)
    expect(await checkWebFunctions('eu-west-1')).toMatchObject([{ verdict: 'wrong' }])
  })
})
