import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { runnerOptions } from '../runner/runner-options.ts'

/** The tests of this folder alone, in which Lambda's own runtime client runs what a deployment would upload. */
export default defineConfig({
  root: join(import.meta.dirname, '../..'),
  test: { ...runnerOptions, include: ['test/lambda-runtime/*.test.ts'] },
})
