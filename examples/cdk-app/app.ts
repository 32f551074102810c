import { App, Stack, Tags } from 'aws-cdk-lib'
import { Alarm, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { Reelgate } from 'reelgate'

const app = new App()
// The commands of a checkout find the stage by the name of its stack: `npm run admin -- health --stage platform`.
const stack = new Stack(app, 'Reelgate-platform')

const gateway = new Reelgate(stack, 'Gateway', {
  stage: 'platform',
  profile: 'prod',
  config: 'gateway.yaml',
  alarmEmail: 'oncall@example.com',
})

// What the gateway has is open to the rest of the app.
Tags.of(gateway).add('team', 'platform')
if (gateway.alarmTopic !== undefined) {
  const metric = new Metric({ namespace: 'AWS/DynamoDB', metricName: 'AccountProvisionedReadCapacityUtilization' })
  new Alarm(stack, 'AccountReads', { metric, threshold: 80, evaluationPeriods: 5 }).addAlarmAction(
    new SnsAction(gateway.alarmTopic),
  )
}
