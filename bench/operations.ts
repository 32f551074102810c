import type { Cost } from '../test/engines/cost-meter.ts'
import { startMeteredService } from '../test/engines/metered-service.ts'
import { measureOperationCosts, type OperationCosts } from '../test/engines/operation-costs.ts'
import { DOLLARS_PER_MILLION } from './list-prices.ts'
import { markdownTable } from './markdown-table.ts'
import type { MeasureOptions } from './measurement.ts'

/** What each operation and each step asks of AWS, counted on the wire; and what one whole job costs by that. */
export async function measureOperations({ progress }: MeasureOptions): Promise<string> {
  progress('running every operation over the deployed handlers')
  const service = await startMeteredService()
  try {
    return report(await measureOperationCosts(service))
  } finally {
    await service.close()
  }
}

function report({ operations, wholeJob }: OperationCosts): string {
  const head = ['operation', 'DynamoDB requests', 'read units', 'write units', 'other services']
  const { polls, gets, statesEntered, cost } = wholeJob
  return [
    '## Operations',
    '',
    'Counted on the wire between the deployed handlers and the local table, units as the table reports them (a refused write: as',
    'if it had been made). A short prompt and P2’s recorded answers.',
    '',
    markdownTable(head, Object.entries(operations).map(operationRow)),
    '',
    `One whole job with a callback, ${polls} polls and ${gets} requests of its client, through the deployed state machine:`,
    `${statesEntered} states entered, ${(statesEntered / polls).toFixed(2)} per poll (three for each, and six).`,
    '',
    markdownTable(
      ['one whole job', 'requests', 'read units', 'write units', 'other services'],
      [operationRow(['all of it', cost])],
    ),
    '',
    markdownTable(['per 1,000 jobs', 'each', '$'], dollarRows(wholeJob)),
  ].join('\n')
}

const TABLE_REQUEST = /Item$|Items$|^Query$/

function operationRow([operation, { requests, readUnits, writeUnits }]: [string, Cost]): (string | number)[] {
  const list = (some: [string, number][]) => some.map(([name, count]) => `${count} ${name}`).join(', ')
  const all = Object.entries(requests)
  const isOfTable = ([name]: [string, number]) => TABLE_REQUEST.test(name)
  const others = all.filter((each) => !isOfTable(each))
  return [operation, list(all.filter(isOfTable)) || 'none', readUnits, writeUnits, list(others)]
}

/** States with a function behind them, apart from the polls: Submit, Store, Settle, Notify. */
const TASKS_BESIDE_POLLS = 4

function dollarRows({ polls, gets, statesEntered, cost }: OperationCosts['wholeJob']): (string | number)[][] {
  const counts = {
    stateTransitions: statesEntered,
    apiRequests: 1 + gets,
    writeUnits: cost.writeUnits,
    readUnits: cost.readUnits,
    objectWrites: cost.requests.PutObject ?? 0,
    invocations: 1 + gets + polls + TASKS_BESIDE_POLLS,
  }
  const names = {
    stateTransitions: 'Step Functions, transitions',
    apiRequests: 'API Gateway, requests',
    writeUnits: 'DynamoDB, write units',
    readUnits: 'DynamoDB, read units',
    objectWrites: 'S3, objects written',
    invocations: 'Lambda, invocations without their duration',
  }
  const kinds: (keyof typeof counts)[] = [
    'stateTransitions',
    'apiRequests',
    'writeUnits',
    'readUnits',
    'objectWrites',
    'invocations',
  ]
  const dollars = (kind: keyof typeof counts) => (counts[kind] * DOLLARS_PER_MILLION[kind]) / 1000
  const sum = kinds.reduce((total, kind) => total + dollars(kind), 0)
  return [...kinds.map((kind) => [names[kind], counts[kind], dollars(kind).toFixed(4)]), ['sum', '', sum.toFixed(4)]]
}
