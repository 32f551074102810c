import { GraphWidget, type IMetric } from 'aws-cdk-lib/aws-cloudwatch'

/** Four graphs per row: a dashboard has 24 columns. */
const WIDTH = 6
const HEIGHT = 6

/** Creates a graph of the dashboard. Metrics with another unit go on the right axis. */
export function graph(title: string, left: readonly IMetric[], right: readonly IMetric[] = []): GraphWidget {
  return new GraphWidget({ title, left: [...left], right: [...right], width: WIDTH, height: HEIGHT })
}
