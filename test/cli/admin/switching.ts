import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from '@jest/globals'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { readSwitches } from '#store/switches.ts'
import type { Command } from '../../../lib/cli/admin/command.ts'
import type { Output } from '../../../lib/cli/output.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import { startTestTable, type TableWithClient, type TestTable } from '../../engines/test-table.ts'
import { runCommand } from './run-command.ts'

/** Switch commands on a local host with two channels, `main` and `spare`; each test has a table of its own. */
export function useSwitching() {
  let engine: TestTable
  let table: TableWithClient
  const warnings: string[] = []
  const dataDirectory = mkdtempSync(join(tmpdir(), 'reelgate-switches-'))
  const deploy = (config: GatewayConfig) => writeFileSync(join(dataDirectory, 'gateway.json'), JSON.stringify(config))
  beforeAll(async () => {
    engine = await startTestTable()
  })
  beforeEach(async () => {
    table = await engine.fresh()
    warnings.length = 0
    deploy(testCatalogue().config)
  })
  afterAll(async () => {
    rmSync(dataDirectory, { recursive: true })
    await engine.close()
  })
  return {
    warnings,
    dataDirectory,
    deploy,
    table: () => table,
    switches: async () => (await readSwitches(table)).switches,
    /** Runs a command for a channel or a model. */
    run: (command: Command, ID?: string, value?: string): Promise<Output> =>
      runCommand(command, {
        table,
        local: true,
        dataDirectory,
        outputs: { BaseUrl: 'http://127.0.0.1:1' },
        warn: (sentence) => void warnings.push(sentence),
        options: { ID, WEIGHT: value, PRIORITY: value },
      }),
  }
}
