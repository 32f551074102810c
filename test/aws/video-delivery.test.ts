import { Template } from 'aws-cdk-lib/assertions'
import { AwsSolutionsChecks } from 'cdk-nag'
import { describe, expect, it } from 'vitest'
import { emulatorStackProps } from '../../lib/cli/emulator.ts'
import { createStack, folderOf, resourcesOf, shippedConfiguration, stageSettings } from './synthesize-stack.ts'

const ENVIRONMENT = {
  AWS_ENDPOINT_URL: 'http://127.0.0.1:4566/',
  AWS_ENDPOINT_URL_S3: 'http://s3.localhost:4566',
  AWS_SECRET_ACCESS_KEY: 'test',
}
const template = Template.fromStack(
  createStack({
    settings: stageSettings({ profile: 'dev', emulator: 'true' }),
    ...emulatorStackProps(shippedConfiguration.config, ENVIRONMENT),
  }),
)
const resources = Object.values(template.toJSON().Resources as Record<string, { Type: string }>)

function variablesOf(folder: string): Record<string, unknown> {
  const found = resourcesOf(template, 'AWS::Lambda::Function').find(({ properties }) => folderOf(properties) === folder)
  return found?.properties.Environment.Variables
}

describe('the stack on an emulator', () => {
  it('has no CDN and no resource that only a CDN needs', () => {
    expect(
      resources.map(({ Type }) => Type).filter((type) => /CloudFront|^Custom::|CustomResource/.test(type)),
    ).toEqual([])
    expect(template.toJSON().Outputs.VideoBaseUrl).toBeUndefined()
    const told = resourcesOf(template, 'AWS::Lambda::Function').flatMap(({ properties }) =>
      Object.keys(properties.Environment.Variables),
    )
    expect(told.filter((name) => /^CDN_|DISTRIBUTION/.test(name))).toEqual([])
  })

  it('has no alarms, graphs or streamed responses, which emulators do not support', () => {
    expect(resources.map(({ Type }) => Type).filter((type) => type.startsWith('AWS::CloudWatch::'))).toEqual([])
    const handlers = resourcesOf(template, 'AWS::Lambda::Function').map(({ properties }) => properties.Handler)
    expect(new Set(handlers)).toEqual(new Set(['index.handler']))
  })

  it.each(['api/get-video-job', 'api/list-video-jobs', 'pipeline/notify'])(
    'allows %s to presign urls of the bucket',
    (folder) => {
      expect(variablesOf(folder)).toMatchObject({ VIDEO_DELIVERY: 'bucket', BUCKET_NAME: expect.anything() })
    },
  )

  it('allows only functions that presign to read videos', () => {
    const readers = resourcesOf(template, 'AWS::IAM::Policy').filter(({ properties }) =>
      properties.PolicyDocument.Statement.some(
        ({ Action, Resource }: { Action: string | string[]; Resource: unknown }) =>
          [Action].flat().includes('s3:GetObject') && JSON.stringify(Resource).includes('"/v/*"'),
      ),
    )
    const names = readers.map(({ id }) => /GetVideoJob|ListVideoJobs|ResendVideoCallback|Webhook/.exec(id)?.[0] ?? id)
    expect(names.sort()).toEqual(['GetVideoJob', 'ListVideoJobs', 'ResendVideoCallback', 'Webhook'])
  })

  it('passes the endpoint of a single service to every function, and never a credential', () => {
    for (const { properties } of resourcesOf(template, 'AWS::Lambda::Function')) {
      expect(properties.Environment.Variables).toMatchObject({ AWS_ENDPOINT_URL_S3: 'http://s3.localhost:4566' })
      expect(Object.keys(properties.Environment.Variables).join()).not.toMatch(/AWS_ENDPOINT_URL,|SECRET_ACCESS/)
    }
  })

  it('outputs the address of the API on the emulator', () => {
    const [, parts] = template.toJSON().Outputs.BaseUrl.Value['Fn::Join']
    expect(parts[0]).toBe('http://127.0.0.1:4566/_aws/execute-api/')
    expect(parts.at(-1)).toBe('/live/')
  })
})

describe('the stack with cdn=off', () => {
  const stack = createStack({ settings: stageSettings({ cdn: 'off', console: undefined }) })
  const { Resources, Outputs } = Template.fromStack(stack).toJSON() as {
    Resources: Record<string, { Type: string; Properties?: { Handler?: string; Environment?: { Variables: object } } }>
    Outputs: Record<string, unknown>
  }
  const found = Object.values(Resources)

  it('has nothing of CloudFront, of the console or of the front door', () => {
    expect(found.map(({ Type }) => Type).filter((type) => /CloudFront|^Custom::|CustomResource/.test(type))).toEqual([])
    expect(Object.keys(Outputs).filter((name) => /Video|Console|FrontDoor|Cdn|Relay/.test(name))).toEqual([])
    const variables = found.flatMap(({ Properties }) => Object.keys(Properties?.Environment?.Variables ?? {}))
    expect(variables.filter((name) => /^CDN_|FRONT_DOOR|CONSOLE|DISTRIBUTION/.test(name))).toEqual([])
    expect(JSON.stringify(Resources)).not.toContain('FrontDoor')
  })

  it('presigns urls of the bucket, and has alarms, graphs and streams like any other', () => {
    const variables = found.flatMap(({ Properties }) => Properties?.Environment?.Variables ?? [])
    expect(variables).toContainEqual(expect.objectContaining({ VIDEO_DELIVERY: 'bucket' }))
    const types = found.map(({ Type }) => Type)
    expect(types).toEqual(expect.arrayContaining(['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Dashboard']))
    expect(found.map(({ Properties }) => Properties?.Handler)).toContain('index.streamHandler')
  })

  it('passes every AwsSolutions rule or says why not', () => {
    expect(new AwsSolutionsChecks().validateScope(stack).violations).toEqual([])
  })
})

it('trusts the downloads of the upstreams of an emulator deployment, and of no other stage', () => {
  const { config } = emulatorStackProps(shippedConfiguration.config, {})
  expect(config.trusted_origins).toEqual([
    'https://p1.example.com',
    'https://p2.example.com',
    'https://international.example.com',
    'https://proxy.example.com',
  ])
  expect(shippedConfiguration.config.trusted_origins).toEqual([])
})
