import type { InlineConfig } from 'vitest/node'
import { LongestFirst } from './longest-first.ts'

/** Options of every test run. docs/decisions/0151 says what the files of a worker share. */
export const runnerOptions: InlineConfig = {
  // Everything that the tests log is kept and searched for secrets; the run fails when there is one.
  globalSetup: ['test/logs/run-logs.ts', 'test/runner/kept-in-run.ts'],
  setupFiles: ['test/runner/remember-resolutions.mjs', 'test/runner/restore-process.ts', 'test/logs/keep-output.ts'],
  // A worker loads each library once. Our own modules are loaded anew for each file: fresh-modules.mjs.
  isolate: false,
  pool: 'forks',
  // Most end-to-end tests wait for a job, so four workers fill two cores.
  maxWorkers: 4,
  sequence: { sequencer: LongestFirst },
  execArgv: [
    '--import=./test/runner/fresh-modules.mjs',
    '--max-semi-space-size=64',
    '--disable-warning=ExperimentalWarning',
  ],
  // Node runs the sources as production does: no bundler stands between.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // A file that passes is one line, without what it prints.
  silent: 'passed-only',
  slowTestThreshold: Number.POSITIVE_INFINITY,
}
