import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { listen } from '#platform/http-server/http-server.ts'
import { serveSimulators } from '../../lib/cli/serve-simulators.ts'
import { SAMPLE_FILE } from '../config/edited-config.ts'

const directory = mkdtempSync(join(tmpdir(), 'reelgate-simulators-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe('serveSimulators', () => {
  it('serves at the addresses of the variables, regardless of the environment', async () => {
    process.env.P1_BASE_URL = 'https://upstream.example'
    const { variables, close } = await serveSimulators({ configFile: SAMPLE_FILE, dataDirectory: directory })
    const addresses = new Map(variables.map((line) => [line.split('=')[0], line.slice(line.indexOf('=') + 1)]))
    expect([...addresses.keys()].sort()).toEqual([
      'P1_BASE_URL',
      'P2_DIRECT_BASE_URL',
      'P2_PROXY_BASE_URL',
      'RELAY_BASE_URL',
    ])
    const headers = { authorization: 'Bearer any' }
    expect((await fetch(`${addresses.get('P1_BASE_URL')}/api/v1/tasks/none`, { headers })).status).toBe(200)
    expect((await fetch(`${addresses.get('RELAY_BASE_URL')}/models`, { headers })).status).toBe(200)
    await close()
    await expect(fetch(`${addresses.get('RELAY_BASE_URL')}/models`)).rejects.toThrow()
  })

  it('names a configuration file that it cannot read, as `npm start` does', async () => {
    const started = serveSimulators({ configFile: 'nope', dataDirectory: directory })
    await expect(started).rejects.toThrow(/^cannot read the configuration file \/.*\/nope$/)
  })

  it('rejects if a port is taken, because the deployment already uses its address', async () => {
    const taken = await listen(() => {}, 0)
    const started = serveSimulators({ configFile: SAMPLE_FILE, dataDirectory: directory, portBase: taken.port })
    await expect(started).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await taken.close()
  })
})
