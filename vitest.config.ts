import { defineConfig } from 'vitest/config'
import { runnerOptions } from './test/runner/runner-options.ts'

export default defineConfig({
  test: {
    ...runnerOptions,
    include: ['test/**/*.test.ts'],
    // Those of the Lambda runtime need a package that `npm ci` does not install; they have a configuration of their own.
    exclude: ['**/node_modules/**', 'test/lambda-runtime/**'],
  },
})
