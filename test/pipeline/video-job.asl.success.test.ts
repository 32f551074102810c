import { beforeEach, describe, expect, it } from '@jest/globals'
import { formatCredits } from '#core/money.ts'
import { loadText } from '#store/bucket/bucket.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { inTurn, running, SUBMIT_TEXT, succeeded } from '../engines/pipeline.ts'
import { startEngines } from '../engines/start-engines.ts'
import { CLIP } from '../engines/test-servers.ts'
import { useOpened } from '../engines/use-opened.ts'
import { createVideoMachine } from '../engines/video-machine.ts'

const engines = useOpened(startEngines)
beforeEach(() => engines.reset())

describe('the state machine: an execution', () => {
  it('submits once, polls, stores the video byte for byte and bills what the upstream reports', async () => {
    const pipeline = await engines.pipeline()
    const done = succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 })
    pipeline.upstream.script.poll = inTurn(running(), running(), done)
    const job = await pipeline.create()
    const machine = createVideoMachine(pipeline)

    const execution = await machine.run(job)

    const record = await pipeline.read(job)
    expect(execution.status).toBe('SUCCEEDED')
    expect(machine.visited).toEqual(['Submit', 'Poll', 'Poll', 'Poll', 'Store', 'Settle', 'Notify'])
    expect(pipeline.upstream.submitted).toEqual(['main'])
    expect(record).toMatchObject({ status: 'succeeded', error: undefined })
    expect(await engines.bucket.bytes(job.videoKey)).toEqual(CLIP)
    expect(await loadText(pipeline.context.openBucket, record.submitText)).toBe(SUBMIT_TEXT)
    const { balance } = await getTenant(pipeline.context.table, job.tenantId)
    expect(formatCredits(balance.spent)).toBe('0.42')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('takes duration_secs from the header of the stored file when the upstream names no output length', async () => {
    const pipeline = await engines.pipeline()
    pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4') }))
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    expect(Number((await pipeline.read(job)).durationSeconds)).toBeCloseTo(3, 1)
  })
})
