import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type MeteredService, startMeteredService } from '../engines/metered-service.ts'
import { measureVideoJobCosts } from '../engines/operation-costs.ts'
import { isAllowed, type TableUse, tableGrants, usesOf } from './role-check.ts'
import { synthesizeStack } from './synthesize-stack.ts'

const grants = tableGrants(synthesizeStack())

/** Functions at work. A step may run while the create that began its execution waits. */
const active: string[] = []
const refused: string[] = []
const used = new Set<string>()

function check(use: TableUse): void {
  const folders = active.length === 0 ? ['pipeline/reconcile'] : active
  const allowing = folders.filter((folder) => isAllowed(grants.get(folder) ?? [], use))
  for (const folder of allowing) {
    used.add(folder)
  }
  if (allowing.length === 0) {
    refused.push(`${folders.join(' and ')}: ${use.action} ${use.keys.join(' ')}`)
  }
}

async function during<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  active.push(folder)
  try {
    return await work()
  } finally {
    active.splice(active.lastIndexOf(folder), 1)
  }
}

const OPERATIONS: Readonly<Record<string, string>> = { POST: 'create-video-job', DELETE: 'delete-video-job' }

function folderOf(method: string, path: string): string {
  const read = path.startsWith('/') ? 'get-video-job' : 'list-video-jobs'
  return `api/${OPERATIONS[method] ?? read}`
}

let service: MeteredService
beforeAll(async () => {
  service = await startMeteredService((operation, input) => usesOf(operation, input).forEach(check))
  const { request, invoke } = service
  await measureVideoJobCosts({
    ...service,
    request: (method, path, options) => during(folderOf(method, path), () => request(method, path, options)),
    invoke: (folder, event) => during(folder, () => invoke(folder, event)),
  })
}, 120_000)
afterAll(async () => {
  await service.close()
})

describe('the roles of the functions of video jobs', () => {
  it('allow every table request of a job from its creation to its deletion', () => {
    expect(refused).toEqual([])
  })

  it('are all covered', () => {
    expect([...used].sort()).toEqual([
      ...['api/create-video-job', 'api/delete-video-job', 'api/get-video-job', 'api/list-video-jobs'],
      ...['pipeline/fail-video-job', 'pipeline/notify', 'pipeline/poll-video-job', 'pipeline/reconcile'],
      ...['pipeline/settle-video-job', 'pipeline/store-video', 'pipeline/submit-video-job'],
    ])
  })
})
