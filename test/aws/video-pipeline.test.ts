import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
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
