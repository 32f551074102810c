import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { environmentVariable, MissingEnvironmentError, openCatalogue } from '#platform/configuration.ts'
import { testCatalogue } from '../engines/test-catalogue.ts'

describe('environmentVariable', () => {
  const NAME = 'REELGATE_TEST_VARIABLE'
  afterEach(() => {
    delete process.env[NAME]
  })

  it('is the value of the variable', () => {
    process.env[NAME] = 'set'
    expect(environmentVariable(NAME)).toBe('set')
  })

  it.each([undefined, ''])('names the variable when its value is %j', (value) => {
    Object.assign(process.env, value === undefined ? {} : { [NAME]: value })
    expect(() => environmentVariable(NAME)).toThrow(new MissingEnvironmentError(`${NAME} is not set`))
  })
})

describe('openCatalogue', () => {
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-catalogue-'))
  const before = { ...process.env }
  const { config } = testCatalogue()

  beforeAll(() => {
    writeFileSync(join(directory, 'gateway.json'), JSON.stringify(config))
    writeFileSync(join(directory, 'other.json'), JSON.stringify({ ...config, queue_minutes: 7 }))
  })
  beforeEach(() => {
    process.env = { ...before, LAMBDA_TASK_ROOT: directory }
  })
  afterAll(() => {
    process.env = before
    rmSync(directory, { recursive: true })
  })

  it('reads gateway.json beside the code of the function', () => {
    expect(openCatalogue().config).toEqual(config)
  })

  it('reads the file that GATEWAY_CONFIG_FILE names instead', () => {
    process.env.GATEWAY_CONFIG_FILE = join(directory, 'other.json')
    expect(openCatalogue().config.queue_minutes).toBe(7)
  })
})
