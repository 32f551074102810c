import { beforeEach, describe, expect, it } from 'vitest'
import { jobEvents } from '#core/jobs/job-events.ts'
import { inTurn, running, succeeded } from '../../engines/pipeline.ts'
import { startEngines } from '../../engines/start-engines.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { createVideoMachine } from '../../engines/video-machine.ts'

const engines = useOpened(startEngines)
beforeEach(() => engines.reset())

describe('the record of a job', () => {
  it('keeps the largest percentage that the upstream reported, and when each stage was reached', async () => {
    const pipeline = await engines.pipeline()
    const polls = ['{"progress":40}', '{"progress":"30%"}', '{"status":"running"}'].map(running)
    pipeline.upstream.script.poll = inTurn(...polls, succeeded({ video_url: engines.results.url('/video.mp4') }))
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    const record = await pipeline.read(job)
    expect(record.upstreamPercent?.percent).toBe(40)
    expect(record.upstreamPercent?.since).toBeGreaterThan(record.acceptedAt ?? Number.NaN)
    const events = jobEvents(record, pipeline.clock.seconds)
    const { createdAt, submittedAt, acceptedAt, finishedAt, storedAt, endedAt } = record
    expect(events.map(({ type, at }) => [type, at])).toEqual([
      ['queued', createdAt],
      ['submitted', submittedAt],
      ['processing', acceptedAt],
      ['finished', finishedAt],
      ['stored', storedAt],
      ['settled', endedAt],
      ['progress', endedAt],
      ['succeeded', endedAt],
    ])
    expect(events.find(({ type }) => type === 'settled')?.cost).toBe(await pipeline.spent())
  })
})
