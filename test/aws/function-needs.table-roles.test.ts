import { describe, expect, it } from '@jest/globals'
import { usageOf } from './handler-usage.ts'
import { tableGrants } from './role-check.ts'
import { synthesizeStack } from './synthesize-stack.ts'

const grants = tableGrants(synthesizeStack())
const folders = [...grants.keys()]
const grantsOf = (folder: string) => grants.get(folder) ?? []
const partitionsOf = (folder: string) =>
  [...new Set(grantsOf(folder).flatMap(({ partitions }) => partitions ?? ['the whole table']))].sort()

const READS = ['BatchGetItem', 'GetItem', 'Query']
const writesOf = (folder: string) =>
  grantsOf(folder).filter(({ actions }) => actions.some((action) => !READS.includes(action)))

describe('what a role may do in the table', () => {
  it.each(folders)('%s: reaches the partitions that its code names, and no other', (folder) => {
    expect(partitionsOf(folder)).toEqual(usageOf(folder).partitions)
  })

  it.each(['get-video-job', 'list-video-jobs', 'list-models', 'get-model'])(
    '%s: only reads, but for the count of its caller’s requests',
    (operation) => {
      expect(writesOf(`api/${operation}`)).toEqual([{ actions: ['UpdateItem'], partitions: ['RL#*'] }])
    },
  )

  it('reads the secrets of tenants for the callback alone, and the list of keys for nobody', () => {
    expect(folders.filter((folder) => partitionsOf(folder).includes('TENANTS'))).toEqual(['pipeline/notify'])
    expect(folders.filter((folder) => partitionsOf(folder).some((partition) => partition.startsWith('KEYS')))).toEqual(
      [],
    )
  })

  it('never covers the whole table', () => {
    expect(folders.filter((folder) => partitionsOf(folder).includes('the whole table'))).toEqual([])
    expect(folders.filter((folder) => partitionsOf(folder).includes('*'))).toEqual([])
  })
})
