import { join } from 'node:path'
import { ArnFormat, Fn, Stack } from 'aws-cdk-lib'
import { Grant, type IGrantable, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { DefinitionBody, LogLevel, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions'
import { Construct, type IConstruct } from 'constructs'
import { PIPELINE_FUNCTIONS, type PipelineFunction, pipelineFolderOf } from '../config/platform-facts.ts'
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts'
import { STEP_NEEDS, WEBHOOK_NEEDS } from './function-needs.ts'
import { type GatewayFunction, pascalCase } from './gateway-function.ts'
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
  /** The functions of all tasks. */
  readonly functions: ReadonlyMap<PipelineFunction, GatewayFunction>

  constructor(scope: Construct, id: string, { resources, reservedConcurrency }: VideoPipelineProps) {
    super(scope, id)
    this.functions = new Map(
      PIPELINE_FUNCTIONS.map((name) => {
        const needs = name === 'webhook' ? WEBHOOK_NEEDS : STEP_NEEDS[name]
        const folder = `pipeline/${pipelineFolderOf(name)}`
        return [name, createFunction(this, pascalCase(name), resources, { folder, needs, reservedConcurrency })]
      }),
    )
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
    for (const task of this.functions.values()) {
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
      definitionSubstitutions: Object.fromEntries(
        Array.from(this.functions, ([name, task]) => [`${pascalCase(name)}FunctionArn`, task.function.functionArn]),
      ),
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
