import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  describeApiBundles,
  describeConsoleBundles,
  describePipelineBundles,
  describeRelayBundles,
} from './describe-bundles.ts'
import { EVENTS, SampleEvents, TARGETS } from './sample-events.ts'
import { type SampleService, startSampleService } from './sample-service.ts'

let service: SampleService
const sample = () => new SampleEvents(service)

beforeAll(async () => {
  service = await startSampleService()
})

afterAll(async () => {
  await service?.close()
})

describe('sample events', () => {
  it('exist for every deployed function but those of the client API, and each has a function', () => {
    const others = service.functions.folders.filter((folder) => !folder.startsWith('api/'))
    expect([...new Set(Object.values(TARGETS))].sort()).toEqual(others)
    const files = readdirSync(EVENTS).filter((file) => file.endsWith('.json'))
    expect(files.map((file) => file.replace('.json', '')).sort()).toEqual(Object.keys(TARGETS).sort())
  })
})

// All of them run on one service, because to bundle every function takes most of the time.
describeApiBundles(sample)
describeRelayBundles(sample)
describePipelineBundles(sample)
describeConsoleBundles(sample)

describe('the deployed function of the signing keys', () => {
  const SECRET = 'signing-key-secret'

  it('creates the first key for CloudFormation, whose private key stays in the secret', async () => {
    const before = sample().service.secrets.get(SECRET) ?? ''
    sample().service.secrets.set(SECRET, '{}')
    const ResponseURL = `${sample().service.receiver.origin}/keys`
    await expect(sample().invoke('cdn-signing-key', { ResponseURL })).resolves.toBeNull()
    expect(sample().service.secrets.get(SECRET)).toContain('PRIVATE KEY')
    const response = sample().service.receiver.received.find(({ path }) => path === '/keys')
    const [KeyGroupId] = sample().service.cloudFrontKeys.keyGroups.keys()
    expect(JSON.parse(response?.text ?? '')).toMatchObject({ Status: 'SUCCESS', Data: { KeyGroupId } })
    expect(`${response?.text}${[...service.cloudFrontKeys.publicKeys.values()]}`).not.toContain('PRIVATE KEY')
    sample().service.secrets.set(SECRET, before)
  })

  it('rotates the keys for the operator', async () => {
    await expect(sample().invoke('cdn-signing-key-rotate')).resolves.toMatchObject({
      keys: [
        { keyPairId: 'K1SAMPLE', state: 'signs' },
        { keyPairId: expect.stringMatching(/^KSTUB/), state: 'next' },
      ],
    })
    expect([...service.cloudFrontKeys.keyGroups.values()][0]).toContain('K1SAMPLE')
  })
})
