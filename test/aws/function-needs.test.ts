import { describe, expect, it } from 'vitest'
import { functionFolderOf, ROUTES, type Route } from '#core/api/routes.ts'
import {
  ADMIN_NEEDS,
  API_NEEDS,
  type FunctionNeeds,
  RECONCILE_NEEDS,
  STEP_NEEDS,
  WEBHOOK_NEEDS,
} from '#stack/function-needs.ts'
import { usageOf } from './handler-usage.ts'
import { folderOf, resourcesOf, stageSettings, synthesizeStack } from './synthesize-stack.ts'

type Statement = { Effect: string; Action: string | string[]; Resource: unknown }

const template = synthesizeStack({ settings: stageSettings({ console: 'on' }) })
const functions = resourcesOf(template, 'AWS::Lambda::Function')
const policies = resourcesOf(template, 'AWS::IAM::Policy')

function functionOf(folder: string) {
  const found = functions.find(({ properties }) => folderOf(properties) === folder)
  if (found === undefined) {
    throw new Error(`no function for ${folder}`)
  }
  return found
}

function statementsOf(folder: string): Statement[] {
  const roleId = functionOf(folder).properties.Role['Fn::GetAtt'][0]
  return policies
    .filter(({ properties }) => properties.Roles.some((role: { Ref: string }) => role.Ref === roleId))
    .flatMap(({ properties }) => properties.PolicyDocument.Statement)
}

function asList<T>(value: T | T[]): T[] {
  return Array.isArray(value) ? value : [value]
}

/** Actions of one service that a function has, sorted; with the end of the resource where that tells more. */
function actionsOf(folder: string, service: string): string[] {
  return statementsOf(folder)
    .filter(({ Effect }) => Effect === 'Allow')
    .flatMap(({ Action, Resource }) =>
      asList(Action).flatMap((action) => asList(Resource).map((resource) => ({ action, resource }))),
    )
    .filter(({ action }) => action.startsWith(`${service}:`))
    .map(({ action, resource }) => `${action.slice(service.length + 1)}${suffixOf(resource)}`)
    .sort()
}

/** `/v/*` of `{ "Fn::Join": ["", [<bucket arn>, "/v/*"]] }`. */
function suffixOf(resource: unknown): string {
  const text = JSON.stringify(resource)
  return /"(\/(?:v|requests|texts)\/\*|\/index\/[^"]*)"/.exec(text)?.[1]?.replace(/^/, ' ') ?? ''
}

/** Whoever ends a job deletes its request, and of a deleted job everything. */
const ENDING = ['DeleteObject /requests/*', 'DeleteObject /texts/*', 'DeleteObject /v/*', 'GetObject /texts/*']

const folders = functions.map(({ properties }) => folderOf(properties))

describe('function-needs: permissions', () => {
  it.each(folders)('%s has exactly the table actions of its code', (folder) => {
    const { table, queriesIndex } = usageOf(folder)
    const expected = new Set([...table, ...(queriesIndex ? ['Query /index/GSI1'] : [])])
    expect([...new Set(actionsOf(folder, 'dynamodb'))]).toEqual([...expected].sort())
  })

  it.each(folders)('%s has exactly the object actions of its code', (folder) => {
    const granted = actionsOf(folder, 's3').map((action) => action.split(' ')[0])
    expect([...new Set(granted)].sort()).toEqual(usageOf(folder).objects)
  })

  it.each([
    ['api/create-video-job', ['DeleteObject /requests/*', 'GetObject /texts/*', 'PutObject /requests/*']],
    ['api/get-video-job', ['GetObject /texts/*']],
    ['api/list-video-jobs', ['GetObject /texts/*']],
    ['api/cancel-video-job', ['GetObject /texts/*']],
    ['api/delete-video-job', ['DeleteObject /texts/*', 'DeleteObject /v/*']],
    ['pipeline/submit-video-job', ['GetObject /requests/*', 'PutObject /texts/*']],
    ['pipeline/poll-video-job', ['PutObject /texts/*']],
    [
      'pipeline/store-video',
      ['AbortMultipartUpload /v/*', 'DeleteObject /v/*', 'GetObject /texts/*', 'PutObject /v/*'],
    ],
    ['pipeline/settle-video-job', ENDING],
    ['pipeline/fail-video-job', ENDING],
    ['pipeline/reconcile', ENDING],
    ['admin-api/read', ['GetObject /requests/*', 'GetObject /texts/*']],
    ['admin-api/write', ['DeleteObject /requests/*', 'DeleteObject /texts/*', 'DeleteObject /v/*']],
  ])('%s reaches exactly these objects', (folder, actions) => {
    expect(actionsOf(folder, 's3')).toEqual(actions)
  })

  it.each([
    [
      'states',
      ['api/create-video-job', 'api/cancel-video-job', 'pipeline/reconcile', 'admin-api/read', 'admin-api/write'],
    ],
    ['cloudfront', ['cdn-signing-key']],
    ['cloudwatch', ['admin-api/read']],
    [
      'secretsmanager',
      [
        'api/get-video-job',
        'api/list-video-jobs',
        'api/resend-video-callback',
        'api/create-chat-completion',
        'api/create-completion',
        'api/create-embedding',
        'api/create-image',
        'pipeline/submit-video-job',
        'pipeline/poll-video-job',
        'pipeline/notify',
        'cdn-signing-key',
        'admin-api/sign-in',
        'admin-api/read',
        'admin-api/write',
      ],
    ],
  ])('%s is available to exactly these functions', (service, expected) => {
    const having = folders.filter((folder) => actionsOf(folder, service).length > 0)
    expect(having.sort()).toEqual([...expected].sort())
  })

  it('lets Reconcile start, describe and list executions', () => {
    expect(actionsOf('pipeline/reconcile', 'states')).toEqual(['DescribeExecution', 'ListExecutions', 'StartExecution'])
  })

  it('lets the function of the console that shows things describe executions, and start none', () => {
    expect(actionsOf('admin-api/read', 'states')).toEqual(['DescribeExecution'])
  })

  it('grants no wildcard action, and a wildcard resource only where AWS has no resource names', () => {
    for (const { properties } of policies) {
      for (const statement of properties.PolicyDocument.Statement) {
        const actions = asList<string>(statement.Action)
        expect(actions.filter((action) => action.includes('*'))).toEqual([])
        if (asList(statement.Resource).includes('*')) {
          expect(
            actions.filter(
              (action) =>
                !/^(xray|logs):|^cloudwatch:GetMetricData$|^cloudfront:\w+(KeyGroup|PublicKey)s?$/.test(action),
            ),
          ).toEqual([])
        }
      }
    }
  })
})

describe('function-needs: environment and files', () => {
  const common = ['LOG_LEVEL', 'POWERTOOLS_METRICS_NAMESPACE', 'POWERTOOLS_SERVICE_NAME']

  it.each(folders)('%s has no unused variable', (folder) => {
    const told = Object.keys(functionOf(folder).properties.Environment.Variables)
    const unread = told.filter((name) => !common.includes(name) && !usageOf(folder).variables.includes(name))
    expect(unread).toEqual([])
  })

  it.each(Object.entries(needsByFolder()))('%s gets the configuration if its code reads it', (folder, needs) => {
    expect(needs.readsConfiguration ?? false).toBe(usageOf(folder).readsConfiguration)
  })

  it.each(Object.entries(needsByFolder()))(
    '%s gets the vocabulary of the tokenizer if its code reads it',
    (folder, needs) => {
      expect(needs.shipsTokenizer ?? false).toBe(usageOf(folder).readsTokenizer)
    },
  )

  it.each(Object.entries(needsByFolder()))('%s gets the OpenAPI document if its code reads it', (folder, needs) => {
    expect(needs.shipsOpenapi ?? false).toBe(usageOf(folder).readsOpenapi)
  })
})

function needsByFolder(): Record<string, FunctionNeeds> {
  const below = (parent: string, needs: Readonly<Record<string, FunctionNeeds>>) =>
    Object.entries(needs).map(([name, each]) => [`${parent}/${name}`, each] as const)
  const ofApi = ROUTES.map((route: Route) => {
    const folder = functionFolderOf(route)
    return [folder, Object(API_NEEDS)[folder.replace(/^.*\//, '')]] as const
  })
  const entries = [...ofApi, ...below('admin-api', ADMIN_NEEDS), ...below('pipeline', STEP_NEEDS)]
  return { ...Object.fromEntries(entries), 'pipeline/notify': WEBHOOK_NEEDS, 'pipeline/reconcile': RECONCILE_NEEDS }
}
