import { GraphWidget, type IMetric } from 'aws-cdk-lib/aws-cloudwatch'

/** A dashboard is 24 columns wide: four graphs a row. */
const WIDTH = 6
const HEIGHT = 6

/** One graph of the dashboard; what has another unit goes to the right axis. */
export function graph(title: string, left: readonly IMetric[], right: readonly IMetric[] = []): GraphWidget {
  return new GraphWidget({ title, left: [...left], right: [...right], width: WIDTH, height: HEIGHT })
}
