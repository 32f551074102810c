import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { resourcesOf, synthesizeStack } from './synthesize-stack.ts'

type State = { Type: string; Resource?: string; TimeoutSeconds?: number }

const template = synthesizeStack()
const [machine] = resourcesOf(template, 'AWS::StepFunctions::StateMachine')
const functions = resourcesOf(template, 'AWS::Lambda::Function')
const definition: { TimeoutSeconds?: number; States: Record<string, State> } = JSON.parse(
  readFileSync(join(REPOSITORY_ROOT, 'lambdas', 'pipeline', 'video-job.asl.json'), 'utf8'),
)
const tasks = Object.entries(definition.States).filter(([, state]) => state.Type === 'Task')

/** The function that a task's `${Name}` stands for. */
function functionOf(resource: string | undefined) {
  const name = /^\$\{(\w+)\}$/.exec(resource ?? '')?.[1] ?? ''
  const id = machine?.properties.DefinitionSubstitutions[name]?.['Fn::GetAtt'][0]
  return functions.find((each) => each.id === id)?.properties
}

describe('VideoPipeline', () => {
  it.each(tasks)('%s has a function of the stack, which ends before its task', (_name, state) => {
    expect(functionOf(state.Resource)).toBeDefined()
    expect(functionOf(state.Resource).Timeout).toBeLessThan(state.TimeoutSeconds ?? 0)
  })

  it('substitutes exactly the names in the definition', () => {
    const used = tasks.map(([, state]) => state.Resource?.slice(2, -1))
    expect(Object.keys(machine?.properties.DefinitionSubstitutions).sort()).toEqual([...new Set(used)].sort())
  })

  it('keeps the names of functions for open executions', () => {
    const ids = resourcesOf(template, 'AWS::Lambda::Function').map(({ id }) => id)
    expect(ids).toEqual(
      expect.arrayContaining([
        'VideoPipelineCheckReferencesFunction527471F1',
        'VideoPipelineFailVideoJobFunctionAEB2E68A',
        'VideoPipelinePollVideoJobFunction80C10E9B',
        'VideoPipelineSettleVideoJobFunction5BE883C6',
        'VideoPipelineStoreVideoFunctionF8F36780',
        'VideoPipelineSubmitVideoJobFunction83A49738',
        'VideoPipelineWebhookFunctionC5021B18',
      ]),
    )
    expect(machine?.id).toBe('VideoPipelineStateMachineB50FF8E8')
  })

  it('can invoke only its tasks', () => {
    const roleId = machine?.properties.RoleArn['Fn::GetAtt'][0]
    const statements = resourcesOf(template, 'AWS::IAM::Policy')
      .filter(({ properties }) => properties.Roles.some((role: { Ref: string }) => role.Ref === roleId))
      .flatMap(({ properties }) => properties.PolicyDocument.Statement)
    const invoked = statements.filter(({ Action }) => [Action].flat().includes('lambda:InvokeFunction'))
    expect(invoked.flatMap(({ Resource }) => Resource)).toEqual(
      expect.arrayContaining(Object.values(machine?.properties.DefinitionSubstitutions)),
    )
    expect(invoked.flatMap(({ Resource }) => Resource)).toHaveLength(tasks.length)
  })

  it('is a traced Standard machine that logs errors, without execution data', () => {
    expect(machine?.properties.StateMachineType).toBe('STANDARD')
    expect(machine?.properties.TracingConfiguration).toEqual({ Enabled: true })
    expect(machine?.properties.LoggingConfiguration).toMatchObject({ Level: 'ERROR', IncludeExecutionData: false })
    expect(machine?.properties.LoggingConfiguration.Destinations).toHaveLength(1)
  })

  it('ends even if a state never ends', () => {
    expect(definition.TimeoutSeconds).toBeGreaterThan(0)
  })

  it('gives the store enough memory for parts in flight', () => {
    const store = functions.find(({ properties }) => properties.Description === 'Reelgate pipeline/store-video')
    expect(store?.properties.MemorySize).toBeGreaterThanOrEqual(1024)
    expect(store?.properties.Timeout).toBe(840)
  })
})

describe('ReconcileSchedule', () => {
  const template = synthesizeStack()
  const reconcile = resourcesOf(template, 'AWS::Lambda::Function').find(
    ({ properties }) => properties.Description === 'Reelgate pipeline/reconcile',
  )
  const [machine] = resourcesOf(template, 'AWS::StepFunctions::StateMachine')
  const [queue] = resourcesOf(template, 'AWS::SQS::Queue')
  const functionArn = { 'Fn::GetAtt': [reconcile?.id, 'Arn'] }
  const queueArn = { 'Fn::GetAtt': [queue?.id, 'Arn'] }

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
