import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import OpenAI from 'openai'
import { v7 as uuidv7 } from 'uuid'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { useOpened } from '../engines/use-opened.ts'
import { TESTER } from '../engines/video-jobs.ts'
import { changedKeys, type TableImage, takeImage } from '../faults/faulty-table.ts'
import { type Inhabitant, openSigner, startGatedBucket, startTwoTenants, tamperedUrls } from './two-tenants.ts'
import type { Answer } from './video-client.ts'

const bucket = useOpened(startGatedBucket)
let house: Awaited<ReturnType<typeof startTwoTenants>>
let left: Inhabitant
let right: Inhabitant
beforeAll(async () => {
  house = await startTwoTenants({ environment: bucket.environment })
  left = house.left
  right = house.right
})
afterAll(async () => {
  await house.stop()
})

/** All that a client sees of an answer, without what differs from request to request. */
function visibleOf({ status, headers, text }: Answer) {
  const seen = Object.fromEntries(headers)
  expect(seen['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  const { 'x-request-id': _, date: __, 'openai-processing-ms': ___, ...rest } = seen
  return { status, headers: rest, text }
}

/** Every id that is no visible job of the left tenant. */
function foreignIds(): [string, string][] {
  return [
    ['another tenant’s', right.finished.id],
    ['another tenant’s, expired', right.expiredId],
    ['another tenant’s, deleted', right.deleted.id],
    ['another tenant’s, older than a record', right.forgottenId],
    ['random', uuidv7()],
    ['deleted', left.deleted.id],
    ['older than a record', left.forgottenId],
    ['malformed', 'not-a-uuid'],
    ['one character short', left.finished.id.slice(1)],
    ['one character long', `${left.finished.id}0`],
    ['in braces', encodeURIComponent(`{${left.finished.id}}`)],
    ['with a key separator', encodeURIComponent(`${right.tenantId}#JOB#${right.finished.id}`)],
    ['NUL', '%00'],
    ['no valid escape', '%zz'],
    ['in upper case', left.finished.id.toUpperCase()],
    ['another tenant’s, in upper case', right.finished.id.toUpperCase()],
  ]
}

const nowSeconds = () => Math.trunc(Date.now() / 1000)
const listedIds = ({ json }: Answer): string[] => Object(json).data.map(({ id }: { id: string }) => id)
const rowsOf = (image: TableImage, tenantId: string) => new Map([...image].filter(([key]) => key.includes(tenantId)))

describe('an id of another tenant or of no job', () => {
  it('gets the same bytes from get and delete, and changes nothing', async () => {
    const before = await takeImage(house.table)
    const expected = visibleOf(await left.api.get(uuidv7()))
    expect(expected).toMatchObject({ status: 404, text: '{"error":"video job not found"}' })
    for (const [kind, id] of foreignIds()) {
      expect({ kind, ...visibleOf(await left.api.get(id)) }).toEqual({ kind, ...expected })
      expect({ kind, ...visibleOf(await left.api.delete(id)) }).toEqual({ kind, ...expected })
    }
    const after = await takeImage(house.table)
    for (const { tenantId } of [left, right]) {
      expect(rowsOf(before, tenantId).size).toBeGreaterThan(8)
      expect(changedKeys(rowsOf(before, tenantId), rowsOf(after, tenantId))).toEqual([])
    }
    expect((await fetch(right.finished.url)).status).toBe(200)
    expect((await right.api.get(right.finished.id)).json.url).toBe(right.finished.url)
  })

  it('tells nothing as a cursor: every id is a position among the caller’s own jobs', async () => {
    const own = [left.finished.id, left.expiredId]
    for (const [kind, id] of [...foreignIds(), ['own', left.finished.id] as const]) {
      const isUuid = /^[0-9a-f-]{36}$/i.test(id)
      const answer = await left.api.list(`?after=${id}`)
      expect({ kind, status: answer.status }).toEqual({ kind, status: isUuid ? 200 : 400 })
      if (isUuid) {
        expect({ kind, ids: listedIds(answer) }).toEqual({ kind, ids: own.filter((each) => each < id.toLowerCase()) })
      }
      if (isUuid && id.toLowerCase() !== left.finished.id) {
        const neighbour = `${id.slice(0, -1)}${id.endsWith('f') ? 'e' : 'f'}`
        expect(visibleOf(await left.api.list(`?after=${neighbour}`))).toEqual(visibleOf(answer))
      }
    }
    const malformed = await Promise.all(
      ['x', '%00', `${right.finished.id}0`].map((id) => left.api.list(`?after=${id}`)),
    )
    expect(new Set(malformed.map(({ text }) => text)).size).toBe(1)
  })
})

describe('an own job', () => {
  it('that has expired is read and listed without its video, and is deleted once', async () => {
    const { status, json } = await right.api.get(right.expiredId)
    expect({ status, json }).toMatchObject({ status: 200, json: { id: right.expiredId, status: 'expired' } })
    expect(Object.keys(json).filter((name) => /^(url|duration_secs|error)$/.test(name))).toEqual([])
    expect((await right.api.delete(right.expiredId)).text).toBe('{"deleted":true}')
    expect(visibleOf(await right.api.get(right.expiredId))).toEqual(visibleOf(await right.api.delete(right.expiredId)))
    expect(listedIds(await right.api.list())).toEqual([right.finished.id])
  })

  it('is listed only for its owner, whatever the query', async () => {
    for (const query of ['', '?limit=100', '?offset=1', '?limit=1&offset=1', `?after=${right.finished.id}`]) {
      const ids = listedIds(await left.api.list(query))
      expect(ids.filter((id) => ![left.finished.id, left.expiredId].includes(id))).toEqual([])
    }
    expect(listedIds(await left.api.list())).toEqual([left.finished.id, left.expiredId])
  })

  it('is called back to its own url alone, signed with its own tenant’s secret', async () => {
    for (const [owner, other] of [[left, right] as const, [right, left] as const]) {
      const ids = owner.receiver.received.map(({ body }) => JSON.parse(body).id)
      expect(ids.sort()).toEqual([owner.finished.id, owner.deleted.id].sort())
      for (const { body, headers } of owner.receiver.received) {
        const verify = (webhookSecret: string) =>
          new OpenAI({ apiKey: 'unused', webhookSecret }).webhooks.unwrap(body, headers)
        await expect(verify(owner.webhookSecret)).resolves.toBeDefined()
        await expect(verify(other.webhookSecret)).rejects.toThrow('signature')
      }
    }
  })
})

describe('a signed url', () => {
  it('opens its video, with a range and with HEAD, and any changed url opens nothing', async () => {
    const ways = [{}, { headers: { range: 'bytes=0-9' } }, { method: 'HEAD' }]
    const own = await Promise.all(ways.map((init) => fetch(left.finished.url, init)))
    expect(own.map(({ status }) => status)).toEqual([200, 206, 200])
    const soon = openSigner(
      house.gateway,
      left.finished.url,
    )({ videoKey: left.finished.key, expiresAt: nowSeconds() + 60 })
    expect((await fetch(soon)).status).toBe(200)
    const texts = new Set<string>()
    const end = openSigner(
      house.gateway,
      left.finished.url,
    )({
      videoKey: left.finished.key,
      expiresAt: nowSeconds() - 1,
    })
    const refused = [
      ...tamperedUrls(left.finished.url, right.finished.url),
      ['of a deleted job', left.deleted.url],
      ['past its end', end],
    ]
    for (const [kind, url = ''] of refused) {
      const answers = await Promise.all(ways.map((init) => fetch(url, init)))
      expect({ kind, statuses: answers.map(({ status }) => status) }).toEqual({ kind, statuses: [403, 403, 403] })
      texts.add(await (answers[0]?.text() ?? ''))
    }
    expect(texts.size).toBe(1)
  })
})

describe('a revoked key', () => {
  const newKey = async () => {
    const key = generateApiKey()
    const keyId = await storeApiKey(house.table, { key, tenantId: left.tenantId, models: null }, TESTER)
    return { keyId, api: house.gateway.api.withKey(key) }
  }

  it.each(['create', 'get', 'list', 'delete'] as const)('is refused by the very next %s', async (operation) => {
    const { api, keyId } = await newKey()
    const ask = () => {
      const asked = {
        create: () => api.create({ model: 'famB-1.1-t2v', prompt: '' }),
        get: () => api.get(left.finished.id),
        list: () => api.list(),
        delete: () => api.delete(uuidv7()),
      }
      return asked[operation]()
    }
    expect((await ask()).status).not.toBe(401)
    await revokeApiKey(house.table, keyId, TESTER)
    expect(visibleOf(await ask())).toMatchObject({ status: 401, text: '{"error":"invalid api key"}' })
    expect((await left.api.get(left.finished.id)).status).toBe(200)
  })
  it('reserves nothing for a create that was let in before and comes to its reservation after', async () => {
    const { api, keyId } = await newKey()
    const image_url = `data:image/png;base64,${'A'.repeat(20_000)}`
    const before = await takeImage(house.table)
    const held = bucket.holdWrite('/requests/')
    const creating = api.create({ model: 'famB-1.1-i2v', prompt: 'a cat', image_url })
    await held.arrived
    await revokeApiKey(house.table, keyId, TESTER)
    held.open()
    expect(visibleOf(await creating)).toMatchObject({ status: 401, text: '{"error":"invalid api key"}' })
    const changed = changedKeys(before, await takeImage(house.table))
    expect(changed.filter((key) => !/^(K|AUDIT)/.test(key))).toEqual([])
  })
})
