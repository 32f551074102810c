import { describe, expect, it } from '@jest/globals'
import OpenAI from 'openai'
import { createWebhookSecret, InvalidWebhookSecretError, signCallback } from '#platform/callback-signature.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

describe('signCallback', () => {
  it('signs as Standard Webhooks says', () => {
    const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
    expect(
      signCallback({ secrets: [secret], id, timestampSeconds: 1614265330, body: '{"test": 2432232314}' }),
    ).toStrictEqual({
      'webhook-id': id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
  })

  it('makes what the openai package verifies, and nothing else', async () => {
    const webhookSecret = createWebhookSecret()
    const body = JSON.stringify({ id: 'job', status: 'succeeded', url: 'https://cdn.example/ü.mp4', duration_secs: 5 })
    const headers = signCallback({
      secrets: [webhookSecret],
      id: 'msg_job',
      timestampSeconds: Math.floor(Date.now() / 1000),
      body,
    })
    const { webhooks } = new OpenAI({ apiKey: 'unused', webhookSecret })
    expect(await webhooks.unwrap(body, { ...headers })).toMatchObject({ id: 'job', duration_secs: 5 })
    await expect(webhooks.unwrap(`${body} `, { ...headers })).rejects.toThrow('signature')
    await expect(webhooks.unwrap(body, { ...headers, 'webhook-id': 'msg_other' })).rejects.toThrow('signature')
    await expect(webhooks.unwrap(body, { ...headers }, createWebhookSecret())).rejects.toThrow('signature')
  })

  it('signs with both secrets while they rotate, and a receiver that has either verifies', async () => {
    const [current, previous] = [createWebhookSecret(), createWebhookSecret()]
    const message = { id: 'msg_job', timestampSeconds: Math.floor(Date.now() / 1000), body: '{"id":"job"}' }
    const headers = { ...signCallback({ secrets: [current, previous], ...message }) }
    expect(headers['webhook-signature'].split(' ')).toEqual(
      [current, previous].map((each) => signCallback({ secrets: [each], ...message })['webhook-signature']),
    )
    const { webhooks } = new OpenAI({ apiKey: 'unused' })
    for (const each of [current, previous]) {
      expect(await webhooks.unwrap(message.body, headers, each)).toEqual({ id: 'job' })
    }
    await expect(webhooks.unwrap(message.body, headers, createWebhookSecret())).rejects.toThrow('signature')
  })

  it('signs bytes as it signs their text', () => {
    const message = { secrets: [secret], id: 'msg_job', timestampSeconds: 1 }
    expect(signCallback({ ...message, body: Buffer.from('{"a":"ü"}') })).toStrictEqual(
      signCallback({ ...message, body: '{"a":"ü"}' }),
    )
  })

  it.each([
    '',
    'whsec_',
    'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'whsec_!!!!9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'whsec_c2hvcnQ=',
    `whsec_${'A'.repeat(100)}`,
  ])('refuses %j as a secret without repeating it', (bad) => {
    expect(() => signCallback({ secrets: [secret, bad], id: 'msg_job', timestampSeconds: 1, body: '' })).toThrow(
      InvalidWebhookSecretError,
    )
  })
})

describe('createWebhookSecret', () => {
  it('makes 32 fresh random bytes each time', () => {
    const secrets = Array.from({ length: 50 }, createWebhookSecret)
    expect(new Set(secrets).size).toBe(50)
    for (const made of secrets) {
      expect(made).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    }
  })
})
