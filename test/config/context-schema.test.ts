import { describe, expect, it } from 'vitest'
import { type ContextKey, contextSchema } from '../../lib/config/context-schema.ts'

const read = (key: ContextKey, value: unknown) => contextSchema.parse({ [key]: value })[key]

describe('context-schema', () => {
  it.each([
    ['retainData', 'true', true],
    ['retainData', false, false],
    ['throttleRate', '1000000', 1_000_000],
    ['logRetentionDays', '30', 30],
    ['apiDomain', 'video.example.com', 'video.example.com'],
    ['table', 'reelgate.restored-1', 'reelgate.restored-1'],
    ['stage', 'a-1', 'a-1'],
  ] as const)('reads %s=%j as %j', (key, value, expected) => {
    expect(read(key, value)).toBe(expected)
  })

  it.each([
    ['retainData', 'yes', 'must be true or false'],
    ['throttleRate', '1e3', 'must be an integer from 1 to 1,000,000 (requests per second)'],
    ['throttleRate', '0', 'must be an integer from 1 to 1,000,000 (requests per second)'],
    ['logRetentionDays', '2', 'must be one of 1, 3, 5, 7'],
    ['logLevel', 'LOUD', 'must be one of DEBUG, INFO, WARN, ERROR'],
    ['apiDomain', 'https://video.example.com', 'must be a host name in lower case'],
    ['apiCertificateArn', 'arn:aws:iam::1:role/x', 'must be the ARN of a certificate'],
    ['alarmEmail', 'a@b', 'must be one e-mail address'],
    ['table', 'ab', 'must be the name of a table'],
    ['stage', '1a', 'must be dev, prod or a name of up to 32'],
    ['config', '', 'must be the path of a file'],
  ] as const)('refuses %s=%j: %s', (key, value, sentence) => {
    expect(() => read(key, value)).toThrow(sentence)
  })

  it('has the defaults that no profile decides', () => {
    expect(contextSchema.parse({})).toEqual({
      stage: 'dev',
      config: expect.any(String),
      emulator: false,
      cdn: 'on',
      deletionProtection: false,
      apiClosed: false,
      waf: 'off',
      apiProvisionedConcurrency: 0,
    })
  })
})
