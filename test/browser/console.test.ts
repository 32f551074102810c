import { afterAll, afterEach, beforeAll } from '@jest/globals'
import { startReceiver } from '../e2e/video-client.ts'
import { createClientJobs, type SharedConsole, startConsoleHost } from './console-host.ts'
import { testHostileStrings, testJobPages } from './job-pages.ts'
import { testOwnerEffects } from './owner-effects.ts'
import { testPlayground } from './playground.ts'

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
