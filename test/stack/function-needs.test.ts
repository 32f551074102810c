import { describe, expect, it } from '@jest/globals'
import { RELAYED_ROUTES } from '#routes/relayed.ts'
import {
  ADMIN_NEEDS,
  API_FUNCTIONS,
  RECONCILE_NEEDS,
  type SizedNeeds,
  STEP_NEEDS,
  WEBHOOK_NEEDS,
} from '#stack/function-needs.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { usageOf } from './handler-usage.ts'
import { isAllowed, tableDenials, tableGrants, usesOf, withoutKeys } from './role-check.ts'
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

/** Functions that no recorder watches: see test/routes/routes.responses.test.ts for those of the client API. */
const isUnwatched = (folder: string) => !folder.startsWith('api/')

describe('the permissions of functions', () => {
  it.each(folders.filter(isUnwatched))('%s has exactly the table actions of its code', (folder) => {
    const { table, queriesIndex } = usageOf(folder)
    const expected = new Set([...table, ...(queriesIndex ? ['Query /index/GSI1'] : [])])
    expect([...new Set(actionsOf(folder, 'dynamodb'))]).toEqual([...expected].sort())
  })

  it.each(folders.filter(isUnwatched))('%s has exactly the object actions of its code', (folder) => {
    const granted = actionsOf(folder, 's3').map((action) => action.split(' ')[0])
    expect([...new Set(granted)].sort()).toEqual(usageOf(folder).objects)
  })

  it.each([
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
      [
        ...['api/create-video-job', 'api/cancel-video-job', 'api/delete-video-job'],
        ...['pipeline/reconcile', 'admin-api/read', 'admin-api/write'],
      ],
    ],
    ['cloudfront', ['cdn-signing-key']],
    ['cloudwatch', ['admin-api/read']],
    [
      'secretsmanager',
      [
        'api/get-video-job',
        'api/list-video-jobs',
        'api/resend-video-callback',
        ...RELAYED_ROUTES.map((route) => `api/${route.function}`),
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
    expect(needs.shipsOpenapi).toBe(usageOf(folder).readsOpenapi)
  })
})

function needsByFolder(): Record<string, SizedNeeds> {
  const below = (parent: string, needs: Readonly<Record<string, SizedNeeds>>) =>
    Object.entries(needs).map(([name, each]) => [`${parent}/${name}`, each] as const)
  const ofApi = API_FUNCTIONS.map(({ name, needs }) => [`api/${name}`, needs] as const)
  const entries = [...ofApi, ...below('admin-api', ADMIN_NEEDS), ...below('pipeline', STEP_NEEDS)]
  return { ...Object.fromEntries(entries), 'pipeline/notify': WEBHOOK_NEEDS, 'pipeline/reconcile': RECONCILE_NEEDS }
}

describe('function-needs: table permissions', () => {
  const template = synthesizeStack({ settings: stageSettings({ console: 'on' }) })
  const grants = tableGrants(template)
  const denials = tableDenials(template)
  const folders = [...grants.keys()]
  const grantsOf = (folder: string) => grants.get(folder) ?? []
  const partitionsOf = (folder: string) =>
    [...new Set(grantsOf(folder).flatMap(({ partitions }) => partitions ?? ['the whole table']))].sort()

  const READS = ['BatchGetItem', 'GetItem', 'Query']
  const writesOf = (folder: string) =>
    grantsOf(folder)
      .filter(({ actions }) => actions.some((action) => !READS.includes(action)))
      .map(({ actions, partitions }) => ({ actions, partitions }))

  function wireKey({ PK, SK }: { readonly PK: string; readonly SK: string }) {
    return { PK: { S: PK }, SK: { S: SK } }
  }

  it.each(folders.filter(isUnwatched))('%s: reaches exactly the partitions in its code', (folder) => {
    expect(partitionsOf(folder)).toEqual(usageOf(folder).partitions)
  })

  it.each([
    'api/get-video-job',
    'api/list-video-jobs',
    'api/get-video-events',
    'api/create-video-quote',
    'api/account',
    'api/catalogue',
  ])('%s: writes only the request count of its caller', (folder) => {
    expect(writesOf(folder)).toEqual([{ actions: ['UpdateItem'], partitions: ['RL#*'] }])
  })

  it('admin-api/read: writes nothing but the counts of admin keys and of addresses', () => {
    expect(writesOf('admin-api/read')).toEqual([{ actions: ['UpdateItem'], partitions: ['SIGNIN#*'] }])
  })

  it.each(folders)(
    '%s: reaches nothing by a request without leading keys, but writes where it uses transactions',
    (folder) => {
      const granted = new Set(grantsOf(folder).flatMap(({ actions }) => actions))
      const reached = [...granted].filter((action) => isAllowed(grantsOf(folder), withoutKeys({ action })))
      const writes = [...granted].filter((action) => !READS.includes(action))
      expect(reached.toSorted()).toEqual(usageOf(folder).transacts ? writes.toSorted() : [])
    },
  )

  it.each(['UpdateItem', 'DeleteItem'])('no function has %s on the audit log', (action) => {
    const change = { action, keys: [tableKeys.auditEntry('x').PK] }
    expect(folders.filter((folder) => isAllowed(grantsOf(folder), change, denials.get(folder)))).toEqual([])
  })

  it.each([
    ['admin-api/sign-in', { Delete: { Key: wireKey(tableKeys.session('x')) } }],
    ['admin-api/write', { Update: { Key: wireKey(tableKeys.balance('x')) } }],
  ])('%s: changes an item in one transaction with an entry of the audit log', (folder, change) => {
    const entry = { Put: { Item: wireKey(tableKeys.auditEntry('x')) } }
    const uses = usesOf('TransactWriteItems', { TransactItems: [change, entry] })
    expect(uses.filter((use) => !isAllowed(grantsOf(folder), use, denials.get(folder)))).toEqual([])
  })

  it('admin-api/sign-in: updates only sessions and its throttle, and adds only sessions and entries of the audit log', () => {
    expect(writesOf('admin-api/sign-in')).toEqual([
      { actions: ['UpdateItem'], partitions: ['SESSIONS', 'SIGNIN#*'] },
      { actions: ['PutItem'], partitions: ['AUDIT', 'SESSIONS'] },
      { actions: ['DeleteItem'], partitions: ['AUDIT', 'LINK#*', 'SESSIONS'] },
    ])
  })

  it('only callbacks, alerts and the console read the secrets of tenants, and only the console lists keys', () => {
    const ofClients = folders.filter((folder) => !folder.startsWith('admin-api/'))
    expect(ofClients.filter((folder) => partitionsOf(folder).includes('TENANTS')).toSorted()).toEqual([
      'api/resend-video-callback',
      'pipeline/notify',
      'pipeline/reconcile',
    ])
    const withListings = ofClients.flatMap((folder) =>
      grantsOf(folder).filter(
        ({ partitions }) => partitions?.some((partition) => partition.startsWith('KEYS')) ?? true,
      ),
    )
    // A response names the key of its caller, whose listing is read by its id.
    expect(new Set(withListings.flatMap(({ actions }) => actions))).toEqual(new Set(['BatchGetItem', 'GetItem']))
  })

  it('never covers the whole table', () => {
    expect(folders.filter((folder) => partitionsOf(folder).includes('the whole table'))).toEqual([])
    expect(folders.filter((folder) => partitionsOf(folder).includes('*'))).toEqual([])
  })
})
