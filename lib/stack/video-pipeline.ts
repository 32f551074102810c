import { join } from 'node:path'
import { ArnFormat, Fn, Stack } from 'aws-cdk-lib'
import { Grant, type IGrantable, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { DefinitionBody, LogLevel, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions'
import { Construct, type IConstruct } from 'constructs'
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts'
import { STEP_NEEDS, type StepName, WEBHOOK_NEEDS } from './function-needs.ts'
import type { GatewayFunction } from './gateway-function.ts'
import { ServiceLogGroup } from './logs.ts'
import { createFunction, type ServiceResources } from './service-resources.ts'

type VideoPipelineProps = {
  readonly resources: ServiceResources
  /** Of each task. */
  readonly reservedConcurrency: number | undefined
}

/** The state machine of video jobs, one Standard execution per job, and the functions that are its tasks. */
export class VideoPipeline extends Construct {
  readonly stateMachine: StateMachine
  /** Functions by folder name, for alarms. */
  readonly functions: Readonly<Record<StepName | 'webhook', GatewayFunction>>

  constructor(scope: Construct, id: string, { resources, reservedConcurrency }: VideoPipelineProps) {
    super(scope, id)
    const createStep = (name: StepName, stepId: string) =>
      createFunction(this, stepId, resources, {
        folder: `pipeline/${name}`,
        needs: STEP_NEEDS[name],
        reservedConcurrency,
      })
    this.functions = {
      'submit-video-job': createStep('submit-video-job', 'SubmitVideoJob'),
      'check-references': createStep('check-references', 'CheckReferences'),
      'poll-video-job': createStep('poll-video-job', 'PollVideoJob'),
      'store-video': createStep('store-video', 'StoreVideo'),
      'settle-video-job': createStep('settle-video-job', 'SettleVideoJob'),
      'fail-video-job': createStep('fail-video-job', 'FailVideoJob'),
      webhook: createFunction(this, 'Webhook', resources, {
        folder: 'pipeline/notify',
        needs: WEBHOOK_NEEDS,
        reservedConcurrency,
      }),
    }
    this.stateMachine = this.#createStateMachine(resources.sources.root)
  }

  /** Grants StartExecution on this machine, and sets the variable with its ARN. */
  grantStart(starter: GatewayFunction): void {
    this.stateMachine.grantStartExecution(starter)
    starter.setEnvironment({ STATE_MACHINE_ARN: this.stateMachine.stateMachineArn })
  }

  /** Grants DescribeExecution on the executions of this machine. */
  grantDescribe(reader: IGrantable & IConstruct): void {
    const resourceArn = `${this.#executionArnPrefix()}:*`
    Grant.addToPrincipal({ grantee: reader, actions: ['states:DescribeExecution'], resourceArns: [resourceArn] })
    acknowledgeWildcard(reader, 'Executions are named after their jobs at run time.', resourceArn)
  }

  /** Grants ListExecutions on this machine. */
  grantList(reader: IGrantable): void {
    const resourceArns = [this.stateMachine.stateMachineArn]
    Grant.addToPrincipal({ grantee: reader, actions: ['states:ListExecutions'], resourceArns })
  }

  /** The local host interprets the same definition file. Here, the ARNs of the functions are filled in. */
  #createStateMachine(root: string): StateMachine {
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('states.amazonaws.com') })
    for (const task of Object.values(this.functions)) {
      task.allowInvokeBy(role)
    }
    const logGroup = new ServiceLogGroup(this, 'Log', this.#logGroupName())
    acknowledge(
      role,
      'X-Ray and the delivery of vended logs have no resources that a policy could name.',
      'IAM5[Resource::*]',
    )
    const stateMachine = new StateMachine(this, 'StateMachine', {
      stateMachineType: StateMachineType.STANDARD,
      definitionBody: DefinitionBody.fromFile(join(root, 'lambdas', 'pipeline', 'video-job.asl.json')),
      definitionSubstitutions: {
        SubmitVideoJobFunctionArn: this.functions['submit-video-job'].function.functionArn,
        CheckReferencesFunctionArn: this.functions['check-references'].function.functionArn,
        PollVideoJobFunctionArn: this.functions['poll-video-job'].function.functionArn,
        StoreVideoFunctionArn: this.functions['store-video'].function.functionArn,
        SettleVideoJobFunctionArn: this.functions['settle-video-job'].function.functionArn,
        FailVideoJobFunctionArn: this.functions['fail-video-job'].function.functionArn,
        WebhookFunctionArn: this.functions.webhook.function.functionArn,
      },
      role,
      logs: { destination: logGroup, level: LogLevel.ERROR, includeExecutionData: false },
      tracingEnabled: true,
    })
    acknowledge(
      this,
      'Step Functions keeps every event of a Standard execution for 90 days; the log is for what went wrong.',
      'SF1',
    )
    return stateMachine
  }

  /**
   * The prefix keeps the resource policy for logs of the account from growing with every log group. The id of the stack allows a
   * new stack to be created while the log of a deleted one is kept.
   */
  #logGroupName(): string {
    const { stackName, stackId } = Stack.of(this)
    return `/aws/vendedlogs/states/${stackName}-video-job-${Fn.select(2, Fn.split('/', stackId))}`
  }

  #executionArnPrefix(): string {
    return Stack.of(this).formatArn({
      service: 'states',
      resource: 'execution',
      resourceName: this.stateMachine.stateMachineName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    })
  }
}
