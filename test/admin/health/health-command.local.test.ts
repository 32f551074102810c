import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { health } from '../../../lib/cli/admin/health.ts'
import { listenHttp } from '../../adapters/outbound/loopback.ts'
import { startTestTable, type TestTable } from '../../engines/start-test-table.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import { runCommand } from '../command-line/run-command.ts'

const dataDirectory = mkdtempSync(join(tmpdir(), 'reelgate-health-'))
let engine: TestTable
let server: Awaited<ReturnType<typeof listenHttp>>
beforeAll(async () => {
  engine = await startTestTable()
  server = await listenHttp((_, response) => response.writeHead(200).end())
})
afterAll(async () => {
  await Promise.all([engine.close(), server.stop()])
  rmSync(dataDirectory, { recursive: true, force: true })
})

/** A port that was free a moment ago: whoever connects is refused. */
async function closedPort(): Promise<number> {
  const listener = createServer()
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  await new Promise((resolve) => listener.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function look(mainUrl: string) {
  const { config } = testCatalogue({}, { main: { base_url: mainUrl }, spare: { base_url: server.origin } })
  writeFileSync(join(dataDirectory, 'gateway.json'), JSON.stringify(config))
  const outputs = { BaseUrl: server.origin }
  return await runCommand(health, { table: await engine.fresh(), local: true, dataDirectory, outputs })
}

describe('health-command: health of a local host', () => {
  it('is fine when every upstream takes connections', async () => {
    const { isOk, text } = await look(server.origin)
    expect(isOk).toBe(true)
    expect(text).toMatch(/ok +connections +the upstreams of \d channels accept connections/)
  })

  it('names the channel whose upstream refuses connections, with what to do', async () => {
    const port = await closedPort()
    const { isOk, text } = await look(`http://127.0.0.1:${port}`)
    expect(isOk).toBe(false)
    expect(text).toContain(`channel main: no connection to 127.0.0.1:${port} (ECONNREFUSED)`)
    expect(text).toContain('-> Check that the upstream runs and that its base_url is right')
    expect(text).not.toContain('channel spare:')
  })

  it('names one whose host does not exist', async () => {
    const { text } = await look('http://no-such-upstream.invalid')
    expect(text).toMatch(/channel main: no connection to no-such-upstream\.invalid \((ENOTFOUND|EAI_AGAIN)\)/)
  })

  it('says in one sentence that the host left a broken configuration', async () => {
    writeFileSync(join(dataDirectory, 'gateway.json'), '')
    const outputs = { BaseUrl: server.origin }
    const { text } = await runCommand(health, { table: await engine.fresh(), local: true, dataDirectory, outputs })
    expect(text).toContain('gateway.json is empty, cut or of another program')
  })
})
