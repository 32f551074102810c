import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startDynamoDbEngine } from '#local/dynamodb-engine.ts'
import { type Cost, CostMeter } from '../../test/engines/cost-meter.ts'
import { startMeteredTable } from '../../test/engines/metered-table.ts'
import { markdownTable } from '../markdown-table.ts'
import { startGateway } from './gateway-process.ts'
import { RELAY_CASES, type RelayCase } from './relay-cases.ts'
import { gatewayEntry, type Upstreams } from './relay-targets.ts'
import { sendLoad } from './send-load.ts'

/** A settlement may wait a quarter of a second for company. */
const SETTLED_MILLISECONDS = 1_000

type TableUse = { readonly caseName: string; readonly cost: Cost }

/**
 * What billed requests ask of the table: its requests and units, counted on the wire for so many requests of each kind of load. The counting
 * stands between gateway and engine and slows the table down, which makes groups larger than in the other tables.
 */
export async function measureTableUse(upstreams: Upstreams, requests: number): Promise<string> {
  const uses: TableUse[] = []
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-bench-table-'))
  const engine = await startDynamoDbEngine(join(directory, 'table.db'), {})
  const meter = new CostMeter()
  const table = await startMeteredTable(engine.endpoint, meter)
  const origins = { burst: upstreams.burst.origin, paced: upstreams.paced.origin }
  const gateway = await startGateway(origins, { tableEndpoint: table.origin })
  try {
    for (const relayCase of RELAY_CASES.filter(isBusyBurst)) {
      const plan = { kind: 'counted', connections: relayCase.plan.connections, requests } as const
      const target = { entry: gatewayEntry(gateway, 'priced') }
      await delay(SETTLED_MILLISECONDS)
      meter.take()
      await sendLoad(target, { ...relayCase, plan }, { warmUpSeconds: 0, measuredSeconds: 0 })
      await delay(SETTLED_MILLISECONDS)
      uses.push({ caseName: relayCase.name, cost: meter.take() })
    }
  } finally {
    await gateway.stop()
    await table.stop()
    await engine.close()
    rmSync(directory, { recursive: true, force: true })
  }
  return renderTableUse(uses, requests)
}

function isBusyBurst({ plan, pace }: RelayCase): boolean {
  return plan.kind === 'closed' && pace === 'burst'
}

function renderTableUse(uses: readonly TableUse[], requests: number): string {
  const head = ['with a price', 'table requests', 'read units', 'write units'].map((title, index) =>
    index === 0 ? title : `${title} for a request`,
  )
  const each = (count: number) => (count / requests).toFixed(2)
  const rows = uses.map(({ caseName, cost }) => {
    const tableRequests = Object.values(cost.requests).reduce((sum, count) => sum + count, 0)
    return [caseName, each(tableRequests), each(cost.readUnits), each(cost.writeUnits)]
  })
  return markdownTable(head, rows)
}
