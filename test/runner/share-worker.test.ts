import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import { describe, expect, it, vi } from 'vitest'
import { importAnew } from './import-anew.ts'
import * as loaded from './loaded-modules.ts'

const beginNextFile = () => importAnew('test/runner/restore-process.ts')

describe('the files of a worker', () => {
  it('have modules of ours to themselves, and share libraries and the pure core', async () => {
    const next = await importAnew<typeof loaded>('test/runner/loaded-modules.ts')
    expect(next.logger).not.toBe(loaded.logger)
    expect(next.Logger).toBe(loaded.Logger)
    expect(next.InvalidRequestError).toBe(loaded.InvalidRequestError)
  })

  it('have the environment of the worker, whatever a file before has set or put in its place', async () => {
    const environment = process.env
    environment.SET_BY_THIS_FILE = 'yes'
    const path = environment.PATH
    delete environment.PATH
    process.env = { PATH: 'elsewhere' }
    await beginNextFile()
    expect(process.env).toBe(environment)
    expect(process.env.PATH).toBe(path)
    expect(process.env.SET_BY_THIS_FILE).toBeUndefined()
  })

  it('have a real clock, a real fetch and real AWS clients', async () => {
    const { fetch } = globalThis
    const { send } = DynamoDBClient.prototype
    vi.useFakeTimers()
    globalThis.fetch = () => Promise.reject(new Error('replaced'))
    mockClient(DynamoDBClient)
    expect(DynamoDBClient.prototype.send).not.toBe(send)
    await beginNextFile()
    expect(vi.isFakeTimers()).toBe(false)
    expect(globalThis.fetch).toBe(fetch)
    expect(DynamoDBClient.prototype.send).toBe(send)
  })
})
