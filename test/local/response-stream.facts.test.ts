import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectedRun, factsIn, type ProbeRun, STREAM_PROBES } from '../engines/stream-probes.ts'
import { keepChildOutput } from '../logs/keep-child-output.ts'
import type { StandInMessage } from './probe-stand-in.ts'

async function runOnStandIn(probe: string): Promise<ProbeRun> {
  const child = fork(join(import.meta.dirname, 'probe-stand-in.ts'), { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  keepChildOutput(child)
  let output = ''
  child.stdout?.on('data', (chunk) => {
    output += String(chunk)
  })
  let received = ''
  let failure: string | undefined
  let isOver = false
  child.on('message', (message: StandInMessage) => {
    if ('received' in message) {
      received += message.received
    } else if ('failure' in message) {
      failure = message.failure
    } else {
      isOver = true
    }
  })
  child.send({ probe })
  await once(child, 'close')
  return { facts: factsIn(output), received, failure, endsProcess: !isOver }
}

/** The real client is held to the same facts by `.ci/run` (`test/lambda-runtime`). */
describe('the local stand-in of Lambda’s response stream', () => {
  it.each(Object.entries(STREAM_PROBES))('%s', async (name, probe) => {
    expect(await runOnStandIn(name)).toEqual(expectedRun(probe))
  })
})
