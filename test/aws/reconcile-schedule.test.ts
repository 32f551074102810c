import { describe, expect, it } from 'vitest'
import { resourcesOf, synthesizeStack } from './synthesize-stack.ts'

const template = synthesizeStack()
const reconcile = resourcesOf(template, 'AWS::Lambda::Function').find(
  ({ properties }) => properties.Description === 'Reelgate pipeline/reconcile',
)
const [machine] = resourcesOf(template, 'AWS::StepFunctions::StateMachine')
const [queue] = resourcesOf(template, 'AWS::SQS::Queue')
const functionArn = { 'Fn::GetAtt': [reconcile?.id, 'Arn'] }
const queueArn = { 'Fn::GetAtt': [queue?.id, 'Arn'] }

describe('ReconcileSchedule', () => {
  it('runs every minute, and ends before the next run is due', () => {
    const [schedule] = resourcesOf(template, 'AWS::Scheduler::Schedule')
    expect(schedule?.properties).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      State: 'ENABLED',
      FlexibleTimeWindow: { Mode: 'OFF' },
      Target: { Arn: functionArn, DeadLetterConfig: { Arn: queueArn } },
    })
    expect(reconcile?.properties.Timeout).toBeLessThan(60)
  })

  it('runs at once when an execution of this machine fails, times out or is aborted', () => {
    const [rule] = resourcesOf(template, 'AWS::Events::Rule')
    expect(rule?.properties.EventPattern).toEqual({
      source: ['aws.states'],
      'detail-type': ['Step Functions Execution Status Change'],
      detail: { status: ['FAILED', 'TIMED_OUT', 'ABORTED'], stateMachineArn: [{ Ref: machine?.id }] },
    })
    expect(rule?.properties.Targets).toEqual([
      expect.objectContaining({ Arn: functionArn, DeadLetterConfig: { Arn: queueArn } }),
    ])
  })

  it('loses no event: failed ones go to the queue', () => {
    const [invocation] = resourcesOf(template, 'AWS::Lambda::EventInvokeConfig')
    expect(invocation?.properties).toMatchObject({
      FunctionName: { Ref: reconcile?.id },
      DestinationConfig: { OnFailure: { Destination: queueArn } },
    })
    expect(queue?.properties).toMatchObject({ SqsManagedSseEnabled: true, MessageRetentionPeriod: 1_209_600 })
  })

  it('receives only events of this machine', () => {
    const described = resourcesOf(template, 'AWS::IAM::Policy')
      .flatMap(({ properties }) => properties.PolicyDocument.Statement)
      .filter(({ Action }) => [Action].flat().includes('states:DescribeExecution'))
    expect(described).toHaveLength(1)
    expect(described[0].Resource['Fn::Join'][1].slice(-3)).toEqual([
      ':execution:',
      { 'Fn::GetAtt': [machine?.id, 'Name'] },
      ':*',
    ])
  })
})
