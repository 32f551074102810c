import { getReservation } from '#adapters/store/money/reservation.ts'
import { formatTable } from '../command-line/answer.ts'
import type { Command, CommandOption } from '../command-line/command.ts'
import { readTenantIdIfGiven } from '../tenants/read-tenant.ts'
import { describeJob, jobRow } from './describe-job.ts'
import { readExecutions } from './execution-history.ts'
import { findJob } from './find-job.ts'
import { readJobLedger } from './job-ledger.ts'
import { recordTimeline } from './record-timeline.ts'
import { orderTimeline, timeText } from './timeline-entry.ts'

/** Options of every command on a job. */
export const JOB_OPTIONS = {
  job: { value: 'ID', summary: 'id of the job', required: true },
  tenant: { value: 'ID|NAME', summary: 'tenant of the job; default: every tenant is searched' },
} as const satisfies Record<string, CommandOption>

/** Shows the tenant and the status of a job. */
export const jobFind: Command = {
  name: 'job find',
  summary: 'find a job by its id alone, and show its tenant and status',
  details: 'Reads every tenant, a hundred per request, at half a read unit for each tenant without the job.',
  options: { job: JOB_OPTIONS.job },
  examples: ['job find --job 0193f1c0-8f3e-7cc0-9a53-6d1b6a1f2b3c'],
  async run(context, values) {
    const json = jobRow(await findJob(await context.table(), values.required('job'), undefined))
    return { json, text: formatTable([], pairs(json)) }
  },
}

/** Shows everything about a job that an operator may see. */
export const jobShow: Command = {
  name: 'job show',
  summary: 'show a job: status, channel, upstream task, times, error, money',
  details: `Prompt and references are never read, and urls are removed. The error is the upstream's, which may quote the prompt. Deleted jobs are
shown too.`,
  options: JOB_OPTIONS,
  examples: ['job show --job 0193f1c0-8f3e-7cc0-9a53-6d1b6a1f2b3c --tenant demo --local'],
  async run(context, values) {
    const table = await context.table()
    const job = await findJob(table, values.required('job'), await readTenantIdIfGiven(context, values))
    const [reservation, ledger] = await Promise.all([
      getReservation(table, job.tenantId, job.jobId),
      readJobLedger(table, job),
    ])
    const json = describeJob(job, reservation, ledger)
    const { ledger: _, reservation: money, ...rest } = json
    const entries = ledger.map(({ at, kind, amount, actual }) => [at, kind, amount, actual])
    const held = money === null ? [] : Object.entries(money).map(([name, value]) => [`reservation ${name}`, value])
    const text = [
      formatTable([], pairs({ ...rest, ...Object.fromEntries(held) })),
      formatTable(['AT', 'KIND', 'AMOUNT', 'ACTUAL'], entries),
    ]
    return { json, text: text.join('\n\n') }
  },
}

/** Shows the events of a job in order. */
export const jobTimeline: Command = {
  name: 'job timeline',
  summary: 'show the events of a job, from the table and from its executions, including restarts',
  details: `Step Functions keeps the steps of an execution for 90 days. A local host keeps the start and end of each execution until it stops, and
no steps.`,
  options: JOB_OPTIONS,
  examples: ['job timeline --job 0193f1c0-8f3e-7cc0-9a53-6d1b6a1f2b3c --local'],
  async run(context, values) {
    const table = await context.table()
    const job = await findJob(table, values.required('job'), await readTenantIdIfGiven(context, values))
    const [reservation, ledger] = await Promise.all([
      getReservation(table, job.tenantId, job.jobId),
      readJobLedger(table, job),
    ])
    const key = { jobId: job.jobId, restarts: reservation?.restarts ?? 0 }
    const { entries, hasHistory } = await readExecutions(await context.output('StateMachineArn'), key)
    const timeline = orderTimeline([...recordTimeline(job, ledger), ...entries]).map((entry) => {
      const { event, execution = null } = entry
      return { at: timeText(entry), event, execution }
    })
    const rows = timeline.map(({ at, event, execution }) => [at, event, execution])
    const note = hasHistory ? '' : '\n\nThe steps of the executions are not kept here.'
    return {
      json: { id: job.jobId, tenant: job.tenantId, status: job.status, steps_kept: hasHistory, timeline },
      text: `${formatTable(['AT', 'EVENT', 'EXECUTION'], rows)}${note}`,
    }
  },
}

function pairs(object: Readonly<Record<string, unknown>>): [string, string | null][] {
  return Object.entries(object).map(([name, value]) => [
    name,
    value === null || value === undefined ? null : String(value),
  ])
}
