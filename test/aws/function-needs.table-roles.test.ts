import { describe, expect, it } from 'vitest'
import { tableKeys } from '#store/table/table-keys.ts'
import { usageOf } from './handler-usage.ts'
import { isAllowed, tableDenials, tableGrants, usesOf, withoutKeys } from './role-check.ts'
import { stageSettings, synthesizeStack } from './synthesize-stack.ts'

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

describe('function-needs: table permissions', () => {
  it.each(folders)('%s: reaches exactly the partitions in its code', (folder) => {
    expect(partitionsOf(folder)).toEqual(usageOf(folder).partitions)
  })

  it.each([
    'api/get-video-job',
    'api/list-video-jobs',
    'api/get-video-events',
    'api/create-video-quote',
    'api-shared/account',
    'api-shared/catalogue',
  ])('%s: writes only the request count of its caller', (folder) => {
    expect(writesOf(folder)).toEqual([{ actions: ['UpdateItem'], partitions: ['RL#*'] }])
  })

  it('admin-api/read: writes nothing', () => {
    expect(writesOf('admin-api/read')).toEqual([])
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

function wireKey({ PK, SK }: { readonly PK: string; readonly SK: string }) {
  return { PK: { S: PK }, SK: { S: SK } }
}
