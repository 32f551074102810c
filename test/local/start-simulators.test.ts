import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import { DataDirectory } from '#local/data-directory.ts'
import { type SimulatedUpstreams, startSimulators } from '#local/start-simulators.ts'
import { loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'
import { SAMPLE_FILE } from '../config/edited-config.ts'

const { config } = loadGatewayConfig({ file: SAMPLE_FILE, environment: {}, mode: 'local' })

/** Starts the upstreams of the configuration with one data directory for all starts. */
async function withStarts(use: (start: () => Promise<SimulatedUpstreams>) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-start-'))
  const data = new DataDirectory(directory)
  try {
    await use(() => startSimulators(config, data))
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const relayChannel = ({ config: started }: SimulatedUpstreams) =>
  started.channels.find(({ provider }) => provider === 'openai')

const closeAll = ({ simulators }: SimulatedUpstreams) => Promise.all(simulators.map((simulator) => simulator.close()))

describe('startSimulators: the upstream of a relay channel', () => {
  it('listens where the configuration then says, without a key', async () => {
    await withStarts(async (start) => {
      const started = await start()
      const channel = relayChannel(started)
      expect(channel).toMatchObject({ id: 'openai-main', api_key: '' })
      expect(channel?.base_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/)
      const answer = await fetch(`${channel?.base_url}/models`, { headers: { authorization: 'Bearer none' } })
      expect(answer.status).toBe(200)
      await closeAll(started)
    })
  })

  it('leaves a configuration that is valid, with every channel that there was, and is no place to download from', async () => {
    await withStarts(async (start) => {
      const started = await start()
      expect(gatewayConfigSchema.parse(started.config)).toEqual(started.config)
      expect(started.config.channels.map(({ id }) => id)).toEqual(config.channels.map(({ id }) => id))
      expect(started.simulators).toHaveLength(config.channels.length)
      expect(started.config.trusted_origins).toHaveLength(config.channels.length - 1)
      await closeAll(started)
    })
  })

  it('keeps its port over a restart, and takes another one when that is taken', async () => {
    await withStarts(async (start) => {
      const first = await start()
      await closeAll(first)
      const second = await start()
      expect(relayChannel(second)?.base_url).toBe(relayChannel(first)?.base_url)
      const third = await start()
      expect(relayChannel(third)?.base_url).not.toBe(relayChannel(second)?.base_url)
      await Promise.all([closeAll(second), closeAll(third)])
    })
  })
})
