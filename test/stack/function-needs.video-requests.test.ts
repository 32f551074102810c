import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type SizedNeeds, STEP_NEEDS, WEBHOOK_NEEDS } from '#stack/function-needs.ts'
import { type MeteredService, startMeteredService } from '../engines/metered-service.ts'
import { measureVideoJobCosts } from '../engines/operation-costs.ts'
import { isAllowed, type TableUse, tableGrants, usesOf } from './role-check.ts'
import { synthesizeStack } from './synthesize-stack.ts'

const grants = tableGrants(synthesizeStack())

/** Functions at work. A step may run while the create that began its execution waits. */
const active: string[] = []
const refused: string[] = []
/** What each function did, such as `GetItem T#*`. */
const used = new Map<string, Set<string>>()

function check({ action, keys }: TableUse): void {
  const folders = active.length === 0 ? ['pipeline/reconcile'] : active
  const allowing = folders.filter((folder) => isAllowed(grants.get(folder) ?? [], { action, keys }))
  for (const folder of allowing) {
    const accesses = keys.map((key) => `${action} ${key.replace(/#.*/, '#*')}`)
    used.set(folder, new Set([...(used.get(folder) ?? []), ...accesses]))
  }
  if (allowing.length === 0) {
    refused.push(`${folders.join(' and ')}: ${action} ${keys.join(' ')}`)
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
})
afterAll(async () => {
  await service.close()
})

const NEEDS: Readonly<Record<string, SizedNeeds>> = {
  ...Object.fromEntries(Object.entries(STEP_NEEDS).map(([name, needs]) => [`pipeline/${name}`, needs])),
  'pipeline/notify': WEBHOOK_NEEDS,
}

const NO_BUDGET = 'no key here has a budget'
const NO_CHECKS = 'no channel here checks references'

/** What a step may do and does not do here, and why. */
const UNREACHED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'pipeline/check-references': { 'GetItem T#*': NO_CHECKS, 'UpdateItem T#*': NO_CHECKS },
  'pipeline/settle-video-job': {
    'PutItem BUDGET#*': NO_BUDGET,
    'UpdateItem BUDGET#*': NO_BUDGET,
    'UpdateItem FAILURES': 'no settled job failed',
  },
  'pipeline/fail-video-job': {
    'PutItem BUDGET#*': NO_BUDGET,
    'PutItem U#*': 'no failed job was billed',
    'UpdateItem BUDGET#*': NO_BUDGET,
    'UpdateItem U#*': 'no failed job was billed',
  },
}

describe('the roles of the functions of video jobs', () => {
  it('allow every table request of a job from its creation to its deletion', () => {
    expect(refused).toEqual([])
  })

  it.each(Object.entries(NEEDS))('allow %s nothing that it does not do', (folder, { table }) => {
    const declared = table.flatMap(({ actions, partitions }) =>
      actions.flatMap((action) => partitions.map((partition) => `${action} ${partition}`)),
    )
    const unreached = declared.filter((access) => !used.get(folder)?.has(access))
    expect(unreached.toSorted()).toEqual(Object.keys(UNREACHED[folder] ?? {}))
  })
})
