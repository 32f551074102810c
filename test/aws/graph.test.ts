import { Stack } from 'aws-cdk-lib'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { describe, expect, it } from 'vitest'
import { graph } from '#stack/metrics.ts'

const metric = (metricName: string) => new Metric({ namespace: 'Test', metricName })

describe('graph', () => {
  it('is a quarter of a dashboard wide, with metrics of another unit on the right axis', () => {
    const [widget] = new Stack().resolve(graph('Jobs', [metric('jobs')], [metric('seconds')]).toJson())
    expect(widget).toMatchObject({ width: 6, height: 6, properties: { title: 'Jobs' } })
    expect(widget.properties.metrics).toEqual([
      ['Test', 'jobs'],
      ['Test', 'seconds', { yAxis: 'right' }],
    ])
  })
})
