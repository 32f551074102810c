import { join } from 'node:path'
import type { Config } from 'jest'
import base from '../../jest.config.ts'

/** The tests of this folder alone, in which Lambda's own runtime client runs what a deployment would upload. */
const config: Config = {
  ...base,
  rootDir: join(import.meta.dirname, '../..'),
  testMatch: ['<rootDir>/test/lambda-runtime/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
}

export default config
