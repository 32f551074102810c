import { existsSync } from 'node:fs'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import { describe, expect, it, vi } from 'vitest'
import { importAnew } from './import-anew.ts'
import { keptInRun } from './kept-in-run.ts'
import * as loaded from './loaded-modules.ts'
import { LONGEST } from './longest-first.ts'

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

describe('keptInRun', () => {
  const kind = `of-this-test-${process.pid}-${Date.now()}`
  let count = 0
  const make = () => {
    count += 1
    return { count }
  }

  it('makes a value once for all files of a run, and gives each caller one of its own', () => {
    const first = keptInRun(kind, { a: 1, b: [undefined, 2n] }, make)
    const second = keptInRun(kind, { a: 1, b: [undefined, 2n] }, make)
    expect([first, second]).toEqual([{ count: 1 }, { count: 1 }])
    expect(second).not.toBe(first)
  })

  it('makes another value for anything else on which it depends', () => {
    expect(keptInRun(kind, { a: 1, b: [undefined, 3n] }, make)).toEqual({ count: 2 })
    expect(keptInRun(`${kind}-other`, { a: 1, b: [undefined, 2n] }, make)).toEqual({ count: 3 })
  })

  it('keeps nothing of what could not be made', () => {
    const fail = () => keptInRun(kind, 'fails', () => JSON.parse('{'))
    expect(fail).toThrow(SyntaxError)
    expect(fail).toThrow(SyntaxError)
  })
})

describe('longest first', () => {
  it.each(LONGEST)('the file that begins early exists: %s', (file) => {
    expect(existsSync(file)).toBe(true)
  })
})
