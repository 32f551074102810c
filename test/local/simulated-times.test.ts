import { describe, expect, it } from '@jest/globals'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { seedSimulatedTimes } from '#local/simulated-times.ts'
import { addGenerationTime, readUsualSeconds } from '#store/jobs/channels.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { shippedConfiguration } from '../stack/synthesize-stack.ts'

const engine = useTestTable()

const simulated = (changes: object = {}): GatewayConfig => {
  const { config } = shippedConfiguration
  const channels = config.channels.map((channel) => ({ ...channel, base_url: 'simulator', ...changes }))
  return { ...config, channels } as GatewayConfig
}

async function usualAfter(config: GatewayConfig, className = 'famA-2-fast#5#720P') {
  const table = await engine.fresh()
  await seedSimulatedTimes(table, config, 1_000)
  return await readUsualSeconds(table, { channelId: 'p2-direct', className })
}

describe('seedSimulatedTimes', () => {
  it('lets every class of a simulated channel begin with a usual time', async () => {
    expect(await usualAfter(simulated())).toEqual({ early: 8, median: 10 })
    expect(await usualAfter(simulated(), 'famA-1-lite-i2v#5#720P')).toEqual({ early: 8, median: 10 })
  })

  it('keeps what a table has learnt already', async () => {
    const table = await engine.fresh()
    const key = { channelId: 'p2-direct', className: 'famA-2-fast#5#720P' }
    for (let jobs = 0; jobs < 8; jobs += 1) {
      await addGenerationTime(table, key, { seconds: 60, nowSeconds: 1_000 })
    }
    await seedSimulatedTimes(table, simulated(), 1_000)
    expect((await readUsualSeconds(table, key))?.median).toBe(60)
  })

  it('leaves a channel alone that has an upstream, or that is polled sooner', async () => {
    expect(await usualAfter(simulated({ base_url: 'https://upstream.example.com' }))).toBeUndefined()
    expect(await usualAfter(simulated({ poll: { first_seconds: 2, interval_seconds: 2 } }))).toBeUndefined()
  })
})
