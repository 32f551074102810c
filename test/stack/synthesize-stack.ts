import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect } from '@jest/globals'
import { App, type AppProps, Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { SOURCE_MAPS } from '#stack/gateway-function.ts'
import { ReelgateStack, type ReelgateStackProps } from '#stack/reelgate-stack.ts'
import { loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'
import { readStageSettings, type StageSettings } from '../../lib/config/stage-settings.ts'
import { keptInRun } from '../runner/kept-in-run.ts'

/** The shipped configuration with every upstream set, so that nothing is left out. */
export const shippedConfiguration = loadGatewayConfig({
  file: join(REPOSITORY_ROOT, 'config', 'gateway.yaml'),
  environment: {
    P1_BASE_URL: 'https://p1.example.com',
    P2_DIRECT_BASE_URL: 'https://p2.example.com',
    P2_INTERNATIONAL_BASE_URL: 'https://international.example.com',
    P2_PROXY_BASE_URL: 'https://proxy.example.com',
    RELAY_BASE_URL: 'https://relay.example.com/v1',
  },
  mode: 'synth',
})

/** Every assembly of a test file, gone when the file ends. */
const assemblies = mkdtempSync(join(tmpdir(), 'reelgate-synth-'))
afterAll(() => rmSync(assemblies, { recursive: true, force: true }))

type TestAppProps = AppProps & {
  /** Stacks whose functions are bundled, which takes time. */
  readonly bundledStacks?: readonly string[]
  /** False halves that time. */
  readonly withSourceMaps?: boolean
}

/**
 * An app with the flags of cdk.json and without an account. It leaves out CDK's own check of each template and the
 * stack traces of constructs: together they take longer than all else, and one test lets CDK check.
 */
export function createApp({ bundledStacks = [], withSourceMaps = true, ...props }: TestAppProps = {}): App {
  const { context } = JSON.parse(readFileSync(join(REPOSITORY_ROOT, 'cdk.json'), 'utf8'))
  return new App({
    outdir: mkdtempSync(join(assemblies, 'cdk.out-')),
    builtinCloudFormationValidation: false,
    stackTraces: false,
    ...props,
    context: { ...context, 'aws:cdk:bundling-stacks': bundledStacks, [SOURCE_MAPS]: withSourceMaps },
  })
}

/**
 * Settings of a stage as `-c key=value` gives them; a stage of its own with all that production has, unless said. The console is off
 * unless given: test/stack/front-door.test.ts shows what it adds.
 */
export function stageSettings(context: Readonly<Record<string, unknown>> = {}): StageSettings {
  const given: Readonly<Record<string, unknown>> = { stage: 'test', profile: 'prod', console: 'off', ...context }
  return readStageSettings((name) => given[name])
}

/** The stack as a deployment makes it. */
export function createStack(props: Partial<ReelgateStackProps> = {}, app = createApp()): ReelgateStack {
  return new ReelgateStack(app, 'Reelgate-test', { ...shippedConfiguration, settings: stageSettings(), ...props })
}

/** Template of the whole stack. A run makes each once, because many files look at the same stacks. */
export function synthesizeStack(props: Partial<ReelgateStackProps> = {}): Template {
  return Template.fromJSON(keptInRun('template', props, () => Template.fromStack(createStack(props)).toJSON()))
}

/** Template of a stack that holds what `add` makes and nothing else. */
export function synthesizeAlone(add: (stack: Stack) => void): Template {
  const stack = new Stack(createApp(), 'Alone')
  add(stack)
  return Template.fromStack(stack)
}

/** Logical ids and properties of all resources of one type. */
export function resourcesOf(template: Template, type: string) {
  return Object.entries(template.findResources(type)).map(([id, { Properties }]) => ({ id, properties: Properties }))
}

/** Folder of a function's handler below `lambdas/`; empty for a function of CDK. */
export function folderOf({ Description = '' }: { Description?: string }): string {
  return Description.replace('Reelgate ', '')
}

/** Production with relayed requests on a Web Function. */
export const WEB = {
  console: 'on',
  relay: 'web',
  frontDoorWebAclArn: 'arn:aws:wafv2:us-east-1:111111111111:global/webacl/viewers/0198b3a0-0000-7000-8000-000000000001',
} as const

/** The template of production with relayed requests on a Web Function. */
export function synthesizeRelay(context: Readonly<Record<string, string>> = {}): Template {
  return synthesizeStack({ settings: stageSettings({ ...WEB, ...context }) })
}

/** The one resource of the relay with this type, and a name that begins so. */
export function relayResource(of: Template, type: string, begin = '') {
  const ids = resourcesOf(of, type).flatMap(({ id }) => (id.startsWith(`Relay${begin}`) ? [id] : []))
  expect(ids).toHaveLength(1)
  const [id = ''] = ids
  const { Properties: properties, ...rest } = of.toJSON().Resources[id]
  return { id, properties, ...rest }
}

/** What a role of the relay may do. */
export function relayStatements(of: Template, begin: string): Record<string, unknown>[] {
  return relayResource(of, 'AWS::IAM::Policy', begin).properties.PolicyDocument.Statement
}
