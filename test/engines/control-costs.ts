import { deliverAlerts } from '#lambdas/pipeline/reconcile/deliver-alerts.ts'
import { findAlerts } from '#lambdas/pipeline/reconcile/find-alerts.ts'
import { openStepContext } from '#lambdas/pipeline/step-context.ts'
import { listApiKeys } from '#store/keys/api-keys.ts'
import { changeSwitch, readSwitches } from '#store/switches.ts'
import type { Table } from '#store/table/table.ts'
import { audit } from '../../lib/cli/admin/audit.ts'
import { keySet } from '../../lib/cli/admin/keys.ts'
import { tenantBudget } from '../../lib/cli/admin/tenants.ts'
import { usage } from '../../lib/cli/admin/usage.ts'
import { runCommand } from '../admin/command-line/run-command.ts'
import { expectStatus, type Recorder } from './expect-status.ts'
import { CHANNEL, type MeteredService, MODEL } from './metered-service.ts'
import { TESTER } from './tester.ts'

type Job = { readonly tenantId: string; readonly jobId: string }
type Caller = { readonly tenantId: string; readonly key: string }

type Steps = {
  readonly record: Recorder
  /** Creates a job, which is submitted. */
  readonly create: (caller: Caller) => Promise<Job>
  /** The poll that finds the video, and the store of the video. */
  readonly finish: (job: Job) => Promise<void>
}

/** What budgets, usage, alerts, audit and switches cost: a tenant with a budget, whose key has a budget too. */
export async function recordControls(service: MeteredService, { record, create, finish }: Steps): Promise<void> {
  // The table with the meter, which `service.table` has not.
  const { table } = openStepContext()
  const caller = await service.openTenant('budgeted', '1000')
  await runCommand(tenantBudget, { table, options: { tenant: 'budgeted', amount: '1.6', period: 'month' } })
  const [key = ''] = await keysOf(service, caller)
  await runCommand(keySet, { table, options: { key, budget: '1.6/day' } })
  await record('alerts, two budgets below their thresholds', runAlerts)
  let job: Job = { tenantId: '', jobId: '' }
  const createOne = async () => {
    job = await create(caller)
  }
  // An instance learns from a refusal that a tenant has a budget.
  await record('create, budgets of key and tenant, first in an instance', createOne)
  const settle = () => service.invoke('pipeline/settle-video-job', job)
  await finish(job)
  await settle()
  await record('create, budgets of key and tenant', createOne)
  await finish(job)
  await record('settle, budgets of key and tenant', settle)
  await record('alerts, two budgets cross a threshold', runAlerts)
  await record('alerts, two budgets that stay above it', runAlerts)
  await recordReads(service, { caller, jobId: job.jobId }, record)
  await recordSwitches(service, table, record)
  await record('admin usage', () => runCommand(usage, { table, options: { tenant: 'budgeted' } }))
  await record('admin audit', () => runCommand(audit, { table }))
}

async function recordReads(
  service: MeteredService,
  { caller, jobId }: { readonly caller: Caller; readonly jobId: string },
  record: Recorder,
): Promise<void> {
  const call = (method: string, path: string, body?: object) =>
    expectStatus(200, service.call(method, path, body === undefined ? caller : { ...caller, body }))
  await record('usage', () => call('GET', '/v1/usage'))
  await record('balance', () => call('GET', '/v1/balance'))
  await record('receipt', () => call('GET', `/v1/video/generations/${jobId}/receipt`))
  await record('quote', () => call('POST', '/v1/video/quotes', { model: MODEL, prompt: 'a paper city', duration: 5 }))
}

async function recordSwitches({ meter, switches }: MeteredService, table: Table, record: Recorder): Promise<void> {
  const changer = { actor: TESTER, at: Date.now() }
  const channel = { kind: 'channel', id: CHANNEL } as const
  const withReads = async (run: () => Promise<unknown>) => {
    switches.take()
    await run()
    meter.add(switches.take())
  }
  await record('a switch is set', () =>
    withReads(() => changeSwitch(table, { ...channel, action: 'disable' }, changer)),
  )
  await record('the switches are read', () => withReads(() => readSwitches(table)))
  await changeSwitch(table, { ...channel, action: 'clear' }, changer)
}

async function keysOf({ table }: MeteredService, { tenantId }: Caller): Promise<string[]> {
  return (await listApiKeys(table)).filter((key) => key.tenantId === tenantId).map(({ keyId }) => keyId)
}

/** The part of a run of Reconcile that looks at budgets and delivers. */
async function runAlerts(): Promise<void> {
  const context = openStepContext()
  await findAlerts(context, () => true)
  await deliverAlerts(context, () => true)
}
