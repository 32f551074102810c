import { describe, expect, it } from 'vitest'
import { recordTimeline, withoutUrls } from '../../../lib/cli/admin/job-timeline.ts'
import { videoJobRecord } from '../../engines/video-job-record.ts'

const CREATED = Date.UTC(2030, 0, 1, 0, 0, 0)
const job = videoJobRecord({ createdAt: CREATED / 1000 })
const entry = (kind: 'reserve' | 'settle' | 'release', seconds: number, actual: string | null = null) => ({
  ...{ kind, job: job.jobId, amount: '0.7', actual },
  at: new Date(CREATED + seconds * 1000).toISOString(),
})

describe('record-timeline', () => {
  it('has the creation, the money and the steps whose time the record keeps', () => {
    const record = { ...job, submittedAt: CREATED / 1000 + 2, channelId: 'main', finishedAt: CREATED / 1000 + 9 }
    const timeline = recordTimeline(record, [entry('reserve', 0), entry('settle', 10, '0.5')])
    expect(timeline.map(({ event }) => event).toSorted()).toEqual([
      'a poll found it finished upstream',
      'claimed for channel main',
      'created',
      'reserved 0.7',
      'settled at 0.5',
    ])
  })

  it('has nothing before the creation, though the record keeps whole seconds only', () => {
    const timeline = recordTimeline({ ...job, submittedAt: CREATED / 1000 - 1, channelId: 'main' }, [])
    expect(timeline.map(({ at }) => at - (timeline[0]?.at ?? 0))).toEqual([0, 0])
  })

  it('shows no url of an error', () => {
    const [, released] = recordTimeline({ ...job, error: 'cannot read https://host/secret?a=b of yours' }, [
      entry('release', 1),
    ])
    expect(released?.event).toBe('released: cannot read <url> of yours')
  })
})

describe('record-timeline: withoutUrls', () => {
  it.each([
    ['see HTTP://HOST/a?b and data:image/png;base64,AAAA now', 'see <url> and <url> now'],
    ['image_urls[2] (secret.png) has 9x9 pixels', 'image_urls[2] has 9x9 pixels'],
    ['nothing to hide', 'nothing to hide'],
  ])('of %j is %j', (string, shown) => {
    expect(withoutUrls(string)).toBe(shown)
  })
})
