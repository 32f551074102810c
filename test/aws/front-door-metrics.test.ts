import { describe, expect, it } from 'vitest'
import { frontDoorAlarm, frontDoorMetric } from '#stack/metrics.ts'

describe('frontDoorMetric', () => {
  it('is read in us-east-1, where CloudFront publishes it', () => {
    expect(frontDoorMetric('E2QWRUHAPOMQZL', 'Requests')).toMatchObject({ region: 'us-east-1', statistic: 'Sum' })
    expect(frontDoorMetric('E2QWRUHAPOMQZL', '5xxErrorRate').statistic).toBe('Average')
  })
})

describe('frontDoorAlarm', () => {
  it('ignores the share of errors among few requests', () => {
    expect(frontDoorAlarm('E2QWRUHAPOMQZL').metric).toMatchObject({ expression: 'IF(requests >= 20, errors, 0)' })
  })
})
