/** Jest in native ESM: swc strips the types, Node resolves `#core/*` through package.json `imports`. */
export default {
  testEnvironment: 'node',
  // Everything that the tests log is kept and searched for secrets; the run fails when there is one.
  globalSetup: '<rootDir>/test/logs/begin-run.ts',
  globalTeardown: '<rootDir>/test/logs/end-run.ts',
  setupFiles: ['<rootDir>/test/logs/keep-output.ts'],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // These need a package that `npm ci` does not install; they have a configuration of their own.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/lambda-runtime/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/cdk.out', '<rootDir>/.data'],
  // Most end-to-end tests wait for a job, so three workers fill two cores.
  maxWorkers: 3,
  // Modules of finished files stay in a worker: without a fresh one now and then, a third of the time is garbage collection.
  workerIdleMemoryLimit: '900MB',
  testTimeout: 60_000,
}
