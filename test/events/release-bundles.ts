import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SampleEvents } from './sample-events.ts'

const FRONT_DOOR_SECRET = 'sample-front-door'

/** Tests of the functions that release the relay server. */
export function describeReleaseBundles(sample: () => SampleEvents): void {
  /** What CloudFormation got from a function. */
  async function release(name: string, properties: object) {
    const { receiver } = sample().service
    const { ResourceProperties } = sample().read(name)
    const changes = {
      ResponseURL: `${receiver.origin}/${name}`,
      ResourceProperties: { ...ResourceProperties, ...properties },
    }
    await expect(sample().invoke(name, changes)).resolves.toBeNull()
    const response = receiver.received.findLast(({ path }) => path === `/${name}`)
    return JSON.parse(response?.text ?? '')
  }

  describe('the deployed releases of the relay server', () => {
    let relay: Server
    let running: string

    /** What a relay server of one release says to the front door and to others. */
    beforeAll(async () => {
      relay = createServer(({ url, headers }, response) => {
        const isProved = headers['x-reelgate-front-door'] === FRONT_DOOR_SECRET
        const status = url === '/health' ? 200 : 401
        response.writeHead(isProved ? status : 404, { 'x-reelgate-release': running }).end()
      })
      await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
    })
    afterAll(() => new Promise((resolve) => relay.close(resolve)))

    it('write the archive that they ship into the bucket of the code, and name its version', async () => {
      const { functions, archives } = sample().service
      const archive = functions.readFile('relay-code', 'relay-server.zip')
      const Digest = createHash('sha256').update(archive).digest('hex')
      const Key = `relay-server/${Digest}.zip`
      expect(await release('relay-code', { Digest })).toMatchObject({
        Status: 'SUCCESS',
        Data: { Key, VersionId: 'version-1' },
      })
      expect(archives.get(Key)?.equals(archive)).toBe(true)
    })

    it('refuse a digest of another archive', async () => {
      const { Status, Reason } = await release('relay-code', {})
      expect([Status, Reason]).toEqual(['FAILED', expect.stringContaining('OtherArchiveError')])
    })

    it('are proved with the secret of the front door', async () => {
      const { Release } = sample().read('relay-smoke').ResourceProperties
      running = Release
      const Origin = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`
      expect(await release('relay-smoke', { Origin })).toMatchObject({ Status: 'SUCCESS' })
    })
  })
}
