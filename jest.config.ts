import type { Config } from 'jest'

/** docs/decisions/0151 says why each file has libraries and modules of its own. */
const config: Config = {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // Those of the Lambda runtime need a package that `npm ci` does not install; they have a configuration of their own.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/lambda-runtime/'],
  modulePathIgnorePatterns: ['<rootDir>/cdk.out', '<rootDir>/bench/.*/node_modules', '<rootDir>/test/.*/node_modules'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': ['@swc/jest', { swcrc: false, jsc: { parser: { syntax: 'typescript' }, target: 'es2024' } }] },
  injectGlobals: false,
  testEnvironment: '<rootDir>/test/runner/file-environment.ts',
  testSequencer: '<rootDir>/test/runner/longest-first.ts',
  globalSetup: '<rootDir>/test/runner/begin-all.ts',
  globalTeardown: '<rootDir>/test/runner/end-all.ts',
  // For a test that hangs. A machine that is busy with something else may take long for any other.
  testTimeout: 600_000,
  slowTestThreshold: Number.MAX_SAFE_INTEGER,
  // Most end-to-end tests wait for a job, so four workers fill two cores.
  maxWorkers: 4,
  // A worker that has grown beyond this begins anew. With a limit, a single file runs in a worker, too.
  workerIdleMemoryLimit: '400MB',
  // `npm test -- --coverage`. The floor of what the tests run of `core` and `store`.
  // Without a file of types alone, and the schemas of responses, which test/routes compares with real ones.
  collectCoverageFrom: [
    'lambdas/{core,store}/**/*.ts',
    '!lambdas/core/providers/video-provider.ts',
    '!lambdas/core/translate/chat-translator.ts',
    '!lambdas/core/api/{response-schemas,agent-responses,video-responses}.ts',
  ],
  // Counts in the files below alone, where V8 would slow every module.
  coverageProvider: 'babel',
  coverageReporters: ['text-summary'],
  coverageThreshold: {
    global: {},
    './lambdas/core/': { lines: 98, branches: 96 },
    './lambdas/store/': { lines: 98, branches: 95 },
  },
  // A file that passes is one line, also when it runs alone.
  verbose: false,
  watchman: false,
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
}

export default config
