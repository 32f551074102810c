import { describe, expect, it } from 'vitest'
import { emulatorEnvironment } from '../../lib/cli/emulator.ts'
import { UsageError } from '../../lib/cli/terminal.ts'

const ENDPOINT = { AWS_ENDPOINT_URL: 'http://127.0.0.1:4566' }

describe('emulator-environment', () => {
  it.each([
    [{}, 'AWS_ENDPOINT_URL is not set'],
    [{ AWS_ENDPOINT_URL: '' }, 'AWS_ENDPOINT_URL is not set'],
    [{ AWS_ENDPOINT_URL: '127.0.0.1:4566' }, 'use an http(s) url'],
    [{ AWS_ENDPOINT_URL: 'https://cloudformation.eu-west-1.amazonaws.com' }, 'is AWS itself'],
    [{ AWS_ENDPOINT_URL: 'https://S3.amazonaws.com.:443/x' }, 'is AWS itself'],
    [{ AWS_ENDPOINT_URL: 'https://sts.cn-north-1.amazonaws.com.cn' }, 'is AWS itself'],
    [{ ...ENDPOINT, AWS_ENDPOINT_URL_S3: 'https://s3.amazonaws.com' }, 'AWS_ENDPOINT_URL_S3 is'],
    [{ ...ENDPOINT, AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true' }, 'AWS itself would be called'],
  ])('%j is refused before anything is done', (environment, reason) => {
    expect(() => emulatorEnvironment(environment)).toThrow(UsageError)
    expect(() => emulatorEnvironment(environment)).toThrow(reason)
  })

  it('accepts an endpoint whose name only resembles AWS', () => {
    const endpoint = 'http://amazonaws.com.localhost:4566'
    expect(emulatorEnvironment({ AWS_ENDPOINT_URL: endpoint }).AWS_ENDPOINT_URL).toBe(endpoint)
  })

  it('has test credentials and a region by default', () => {
    expect(emulatorEnvironment({ ...ENDPOINT, HOME: '/home' })).toEqual({
      ...ENDPOINT,
      HOME: '/home',
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    })
  })

  it('never uses keys, profiles, roles or session tokens of AWS', () => {
    const account = { AWS_ACCESS_KEY_ID: `ASIA${'X'.repeat(16)}`, AWS_SECRET_ACCESS_KEY: 'real' }
    const ways = { AWS_SESSION_TOKEN: 'real', AWS_PROFILE: 'real', AWS_WEB_IDENTITY_TOKEN_FILE: 'real' }
    expect(JSON.stringify(emulatorEnvironment({ ...ENDPOINT, ...account, ...ways }))).not.toMatch(/real|ASIA/)
  })

  it('keeps credentials and a region for the emulator', () => {
    const chosen = { AWS_ACCESS_KEY_ID: '111111111111', AWS_SECRET_ACCESS_KEY: 'mine', AWS_REGION: 'eu-west-1' }
    expect(emulatorEnvironment({ ...ENDPOINT, ...chosen })).toEqual({ ...ENDPOINT, ...chosen })
  })
})
