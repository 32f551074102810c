import { describe, expect, it } from 'vitest'
import { emulatorStackProps } from '../../lib/cli/emulator.ts'
import { testCatalogue } from '../engines/test-catalogue.ts'

const { config } = testCatalogue(
  { trusted_origins: ['https://own.example'] },
  { main: { base_url: 'http://127.0.0.1:9700/p1' }, spare: { base_url: 'http://127.0.0.1:9700/p2' } },
)

describe('emulator-stack-props', () => {
  it('trusts the origins of the video upstreams beside those of the configuration, each once', () => {
    const { trusted_origins } = emulatorStackProps(config, {}).config
    expect(trusted_origins).toEqual(expect.arrayContaining(['https://own.example', 'http://127.0.0.1:9700']))
    expect(new Set(trusted_origins).size).toBe(trusted_origins.length)
  })

  it('passes on the endpoint of a single service, and no other variable', () => {
    const { functionEnvironment } = emulatorStackProps(config, {
      AWS_ENDPOINT_URL: 'http://127.0.0.1:4566',
      AWS_ENDPOINT_URL_S3: 'http://s3.localhost:4566',
      AWS_ENDPOINT_URL_SFN: '',
      AWS_SECRET_ACCESS_KEY: 'secret',
    })
    expect(functionEnvironment).toEqual({ AWS_ENDPOINT_URL_S3: 'http://s3.localhost:4566' })
  })

  it('has the endpoint of the emulator if set', () => {
    expect(emulatorStackProps(config, { AWS_ENDPOINT_URL: 'http://e' })).toHaveProperty('emulatorEndpoint', 'http://e')
    expect(emulatorStackProps(config, {})).not.toHaveProperty('emulatorEndpoint')
  })
})
