import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { endFailedJob } from '#lambdas/pipeline/fail-video-job.ts'
import { sendJobCallback } from '#lambdas/pipeline/notify/send-job-callback.ts'
import type { Pipeline } from '../engines/pipeline.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { startCallbackReceiver } from '../engines/test-servers.ts'

let engines: Engines
let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>
let pipeline: Pipeline
beforeAll(async () => {
  engines = await startEngines()
  receiver = await startCallbackReceiver(() => 204)
})
beforeEach(async () => {
  engines.reset()
  receiver.received.length = 0
  pipeline = await engines.pipeline({ config: { callback_allowlist: [receiver.origin] } })
})
afterAll(async () => {
  await Promise.all([engines.close(), receiver.stop()])
})

async function endedJob() {
  const job = await pipeline.createAccepted({ callbackUrl: receiver.url })
  await endFailedJob(job, pipeline.context, 'TaskGoneError')
  return job
}

const contextOf = () => ({ ...pipeline.context, openUrlSigner: async () => () => 'https://cdn.example/v' })

describe('the outcome of a callback', () => {
  it('is recorded as attempt 1 of the automatic callback', async () => {
    const job = await endedJob()
    const at = Math.trunc(pipeline.context.nowMilliseconds() / 1000)
    await sendJobCallback(job, contextOf())
    expect((await pipeline.read(job)).callbackAttempts).toEqual([
      { at, attempt: 1, status: 204, milliseconds: expect.any(Number), delivered: true },
    ])
  })

  it('that cannot be recorded harms neither the step nor the claim', async () => {
    const job = await endedJob()
    const { table } = pipeline.context
    const failing: typeof table = {
      ...table,
      readItem: table.readItem.bind(table),
      updateItem: async (update, options) => {
        if (update.UpdateExpression.includes('callbackAttempts')) {
          throw new Error('the table is gone')
        }
        return await table.updateItem(update, options)
      },
    }
    await sendJobCallback(job, { ...contextOf(), table: failing })
    await sendJobCallback(job, contextOf())
    expect(receiver.received).toHaveLength(1)
    expect(await pipeline.read(job)).toMatchObject({ callbackState: 'sent', callbackAttempts: undefined })
  })
})
