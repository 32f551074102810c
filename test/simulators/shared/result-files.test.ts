import { describe, expect, it } from 'vitest'
import { withP1 } from '../p1/p1-client.ts'
import { at, call } from './simulator-client.ts'

const urlOf = (body: unknown) => String(at(body, 'output', 'video_url'))

describe('a result url', () => {
  it('serves the clip whole, with its length and type', async () => {
    await withP1({}, async ({ finish }) => {
      const response = await fetch(urlOf((await finish('a cat')).body))
      const bytes = Buffer.from(await response.arrayBuffer())
      expect(response.headers.get('content-type')).toBe('video/mp4')
      expect(Number(response.headers.get('content-length'))).toBe(bytes.length)
      expect(bytes.subarray(4, 8).toString()).toBe('ftyp')
    })
  })

  it('is the same in every poll', async () => {
    await withP1({}, async ({ start, poll, clock }) => {
      const taskId = await start('a cat')
      clock.advanceSeconds(4)
      const first = urlOf((await poll(taskId)).body)
      clock.advanceSeconds(60)
      expect(urlOf((await poll(taskId)).body)).toBe(first)
    })
  })

  it('answers 403 once its time is over', async () => {
    await withP1({ behaviour: { resultTtlSeconds: 60 } }, async ({ finish, clock, simulator }) => {
      const url = urlOf((await finish('a cat')).body)
      clock.advanceSeconds(59)
      expect((await call(simulator, url)).status).toBe(200)
      clock.advanceSeconds(1)
      expect((await call(simulator, url)).status).toBe(403)
    })
  })

  it('answers 403 when it was changed', async () => {
    await withP1({}, async ({ finish, simulator }) => {
      const url = new URL(urlOf((await finish('a cat')).body))
      url.searchParams.set('Expires', '9999999999')
      expect((await call(simulator, url.href)).status).toBe(403)
    })
  })

  it.each([
    ['bytes=0-3', 206, 4],
    ['bytes=-10', 206, 10],
    ['bytes=100-', 206, undefined],
    ['bytes=99999999-', 416, 0],
    ['lines=1-2', 200, undefined],
  ])('answers the range %s with %i', async (range, status, sizeBytes) => {
    await withP1({}, async ({ finish }) => {
      const response = await fetch(urlOf((await finish('a cat')).body), { headers: { range } })
      const bytes = await response.arrayBuffer()
      expect(response.status).toBe(status)
      expect(bytes.byteLength).toBe(sizeBytes ?? bytes.byteLength)
      expect(response.headers.has('content-range')).toBe(status !== 200)
    })
  })

  it('answers HEAD without a body and refuses other methods', async () => {
    await withP1({}, async ({ finish, simulator }) => {
      const url = urlOf((await finish('a cat')).body)
      const head = await call(simulator, url, { method: 'HEAD' })
      expect([head.status, head.text]).toEqual([200, ''])
      expect((await call(simulator, url, { method: 'DELETE' })).status).toBe(405)
    })
  })
})
