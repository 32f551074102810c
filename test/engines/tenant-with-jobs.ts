import { BatchWriteCommand, GetCommand } from '@aws-sdk/lib-dynamodb'
import { v7 as uuidv7 } from 'uuid'
import { tableKeys } from '#store/table/table-keys.ts'
import type { MeteredService } from './metered-service.ts'

/** Jobs that a batch writes at once. */
const BATCH_MAX = 25

type Job = { readonly tenantId: string; readonly jobId: string }

/** A tenant with as many jobs as wanted, each like the one given. */
export async function openTenantWithJobs({ table, openTenant }: MeteredService, model: Job, count: number) {
  const caller = await openTenant(`n${count}`, '1')
  const Key = tableKeys.job(model.tenantId, model.jobId)
  const { Item } = await table.client.send(new GetCommand({ TableName: table.name, Key }))
  const items = Array.from({ length: count }, () => ({ ...Item, ...tableKeys.job(caller.tenantId, uuidv7()) }))
  for (let first = 0; first < count; first += BATCH_MAX) {
    const puts = items.slice(first, first + BATCH_MAX).map((each) => ({ PutRequest: { Item: each } }))
    await table.client.send(new BatchWriteCommand({ RequestItems: { [table.name]: puts } }))
  }
  return caller
}
