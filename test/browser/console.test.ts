import { afterAll, afterEach, beforeAll } from 'vitest'
import { startReceiver } from '../e2e/callback-receiver.ts'
import { createClientJobs } from './client-jobs.ts'
import { startConsoleHost } from './console-host.ts'
import { testHostileStrings } from './hostile-strings.ts'
import { testJobPages } from './job-pages.ts'
import { testOwnerEffects } from './owner-effects.ts'
import { testPlayground } from './playground.ts'
import type { SharedConsole } from './shared-console.ts'

let shared: SharedConsole
beforeAll(async () => {
  const receiver = await startReceiver()
  const host = await startConsoleHost({ callbackOrigins: [receiver.origin] })
  shared = { host, receiver, jobs: await createClientJobs(host, receiver.origin) }
})
afterAll(async () => {
  await shared.host.close()
  await shared.receiver.close()
})
afterEach(() => shared.host.browser.endTest())

// One host for all: its start costs more than most of these tests.
testPlayground(() => shared)
testOwnerEffects(() => shared)
testJobPages(() => shared)
testHostileStrings(() => shared)
