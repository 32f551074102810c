import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Gateway, startGateway } from '../e2e/start-gateway.ts'

type Row = { readonly kind: string; readonly job: string; readonly amount: string; readonly actual: string | null }

/** Five seconds at 0.14 each. */
const FIVE_SECONDS = { model: 'famB-1.1-t2v', duration: 5, resolution: '720p' }

describe('a price change while a job runs', () => {
  let before: Gateway
  let after: Gateway | undefined

  beforeAll(async () => {
    before = await startGateway()
  })

  afterAll(async () => {
    await Promise.all([before.kill(), after?.kill()])
  })

  it('leaves the job at its prices of creation and applies to the next job', async () => {
    const running = await before.api.create({ ...FIVE_SECONDS, prompt: '[slow:2] a cat' })
    await before.stop()
    const { dataDirectory, configFile } = before
    writeFileSync(configFile, readFileSync(configFile, 'utf8').replaceAll('price: "0.14"', 'price: "1.40"'))
    after = await startGateway({ dataDirectory, configFile })
    const { id: later } = (await after.api.create({ ...FIVE_SECONDS, prompt: '[forever] a cat' })).json
    await after.api.until(String(running.json.id), 'succeeded', 'failed')
    const { entries } = Object(await after.admin('ledger', '--tenant', 'demo'))
    const rowsOf = (id: unknown) => entries.filter(({ job }: Row) => job === id)
    expect(rowsOf(running.json.id)).toMatchObject([
      { kind: 'settle', amount: '0.7', actual: '0.7' },
      { kind: 'reserve', amount: '0.7' },
    ])
    expect(rowsOf(later)).toMatchObject([{ kind: 'reserve', amount: '7' }])
    expect(await after.admin('ledger', 'verify')).toEqual({ ok: true, broken: [] })
  })
})
