import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sha256Hex } from '#adapters/crypto/sha256.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { captureLog } from './api-exchange.ts'
import { call, dynamo, item, KEY, storeKey, UNAUTHORIZED } from './keyed-api.ts'

beforeEach(() => {
  dynamo.reset()
  dynamo.on(GetCommand).resolves({})
  captureLog()
})
afterEach(() => {
  vi.restoreAllMocks()
})

describe('a good key', () => {
  it('puts its tenant on the event, after one strongly consistent read of its digest', async () => {
    storeKey({ models: ['famA-2'] })
    const { statusCode, body } = await call({ headers: { AUTHORIZATION: `bearer ${KEY}` } })
    expect(statusCode).toBe(200)
    expect(body.caller).toStrictEqual({
      tenantId: 'tenant-1',
      keyId: 'Ab3dEf9h',
      keyDigest: sha256Hex(KEY),
      models: ['famA-2'],
    })
    const reads = dynamo.commandCalls(GetCommand)
    expect(reads).toHaveLength(1)
    expect(reads[0]?.args[0].input).toMatchObject({ TableName: 'table', ConsistentRead: true })
    expect(JSON.stringify(reads[0]?.args[0].input)).toContain(sha256Hex(KEY))
    expect(JSON.stringify(reads[0]?.args[0].input)).not.toContain(KEY)
  })

  it('that expires later, or has another shape, is good', async () => {
    storeKey({ expiresAt: Math.trunc(Date.now() / 1000) + 60 })
    expect((await call()).statusCode).toBe(200)
    expect((await call({ headers: { authorization: 'Bearer local-key' } })).statusCode).toBe(200)
  })
})

describe('a bad key', () => {
  it.each<[string, Partial<ApiEvent>]>([
    ['missing', { headers: {} }],
    ['empty', { headers: { authorization: '' } }],
    ['without its scheme', { headers: { authorization: KEY } }],
    ['of another scheme', { headers: { authorization: `Basic ${KEY}` } }],
    ['behind two spaces', { headers: { authorization: `Bearer  ${KEY}` } }],
    ['mistyped', { headers: { authorization: `Bearer ${KEY.slice(0, -1)}~` } }],
    ['with a wrong checksum', { headers: { authorization: `Bearer ${KEY.slice(0, -1)}x` } }],
    ['cut', { headers: { authorization: 'Bearer rg_live_' } }],
    ['with a NUL', { headers: { authorization: `Bearer ${KEY}\0` } }],
    ['in another alphabet', { headers: { authorization: 'Bearer 钥匙' } }],
    ['of ten kilobytes', { headers: { authorization: `Bearer ${'k'.repeat(10_240)}` } }],
    ['sent twice', { multiValueHeaders: { Authorization: [`Bearer ${KEY}`, `Bearer ${KEY}`] } }],
    [
      'sent twice in two spellings',
      { multiValueHeaders: { Authorization: [`Bearer ${KEY}`], authorization: [`Bearer ${KEY}`] } },
    ],
    ['in a header of another name', { headers: { 'x-api-key': KEY } }],
  ])('(%s) is the same 401, without a read', async (_, members) => {
    storeKey()
    expect(await call(members)).toStrictEqual(UNAUTHORIZED)
    expect(dynamo.calls()).toHaveLength(0)
  })

  it.each([
    ['unknown', undefined],
    ['revoked', { ...item, state: 'revoked' }],
    ['expired', { ...item, expiresAt: 1_000_000 }],
    ['that expires this second', { ...item, expiresAt: Math.trunc(Date.now() / 1000) }],
  ])('(%s) is the same 401, after the read', async (_, stored) => {
    dynamo.on(GetCommand).resolves(stored === undefined ? {} : { Item: stored })
    expect(await call()).toStrictEqual(UNAUTHORIZED)
    expect(dynamo.calls()).toHaveLength(1)
  })

  it('is told before a bad body', async () => {
    expect(await call({ body: '{' })).toStrictEqual(UNAUTHORIZED)
  })

  it('has the OpenAI shape on other paths', async () => {
    const { statusCode, body } = await call({ path: '/v1/models', headers: {} })
    expect(statusCode).toBe(401)
    expect(body.error).toMatchObject({ message: 'invalid api key', code: 'invalid_api_key' })
  })
})
