import { describe, expect, it } from 'vitest'
import { UpstreamFailedError, UpstreamTimeoutError } from '#core/errors.ts'
import { readRefusal, readSuccessUpTo, refuseReply } from '#lambdas/relay/read-reply.ts'
import { HIDDEN } from '../core/relay/reply-rules.ts'
import { captureTelemetry } from '../engines/emitted-metrics.ts'
import { fakeReply } from './fake-reply.ts'

const inAMinute = () => performance.now() + 60_000
const telemetry = captureTelemetry()

describe('readSuccessUpTo', () => {
  it('has every byte of a reply in pieces', async () => {
    const { reply, body, told } = fakeReply()
    body.end('{"a"', ':1', '}')
    const pieces: Buffer[] = []
    expect(await readSuccessUpTo(reply, {}, pieces)).toBe(7)
    expect(Buffer.concat(pieces).toString()).toBe('{"a":1}')
    expect(told).toEqual([])
  })

  it('is late for a reply that is not whole by its deadline, which is counted as cut short', async () => {
    telemetry.reset()
    const { reply, body, told } = fakeReply()
    body.write('{')
    const read = readSuccessUpTo(reply, { deadline: performance.now() + 20 }, [])
    await expect(read).rejects.toBeInstanceOf(UpstreamTimeoutError)
    expect([body.isDestroyed, told, telemetry.counted()]).toEqual([true, ['timeout'], ['answer_cut_short']])
  })

  it('waits beyond the deadline for a client that has left, whose reply has another bound', async () => {
    const { reply, body } = fakeReply()
    body.write('{')
    const read = readSuccessUpTo(reply, { deadline: performance.now() + 20, gone: AbortSignal.abort() }, [])
    setTimeout(() => body.end('}'), 60)
    expect(await read).toBe(2)
  })

  it('fails with a reply that breaks off', async () => {
    const { reply, body } = fakeReply()
    body.write('{')
    body.breakOff()
    await expect(readSuccessUpTo(reply, {}, [])).rejects.toBeInstanceOf(UpstreamFailedError)
  })

  it('returns the part that is held of a larger JSON object', async () => {
    const { reply, body } = fakeReply()
    body.end('{"a":', '"long"}')
    const read = await readSuccessUpTo(reply, { bytesMax: 6 }, [])
    expect(typeof read === 'object' && Buffer.concat(read.held).toString()).toBe('{"a":"long"}')
  })

  it('blames the channel for a larger reply that is not a JSON object', async () => {
    const { reply, body, told } = fakeReply()
    body.write('<html>')
    await expect(readSuccessUpTo(reply, { bytesMax: 2 }, [])).rejects.toBeInstanceOf(UpstreamFailedError)
    expect([body.isDestroyed, told]).toEqual([true, ['failed']])
  })
})

describe('a reply of several megabytes', () => {
  it('is read in steps of at most 64 KiB, between which others have their turn', async () => {
    const { reply, body } = fakeReply()
    const sizes: number[] = []
    let turns = 0
    let isOver = false
    const others = () => {
      turns += 1
      if (!isOver) {
        setImmediate(others)
      }
    }
    body.end('{', 'x'.repeat(3_000_000), '}')
    setImmediate(others)
    await readSuccessUpTo(reply, {}, { push: (bytes) => sizes.push(bytes.length) })
    isOver = true
    expect(Math.max(...sizes)).toBe(64 * 1024)
    expect(sizes.reduce((sum, size) => sum + size)).toBe(3_000_002)
    expect(turns).toBeGreaterThanOrEqual(sizes.length - 2)
  })
})

describe('refuseReply', () => {
  it('blames the channel', () => {
    const { reply, told } = fakeReply()
    expect(() => refuseReply(reply, 'no choices')).toThrow(UpstreamFailedError)
    expect(told).toEqual(['failed'])
  })
})

describe('readRefusal', () => {
  it('removes the keys of the call, and keeps every other byte', async () => {
    const { reply, body } = fakeReply({ withoutCredentials: (text) => text.replace('sk-1', '[redacted]') })
    body.end('{"error":"the key sk-1 of Zürich"}')
    expect((await readRefusal(reply, { deadline: inAMinute(), hidden: HIDDEN })).toString()).toBe(
      '{"error":"the key [redacted] of Zürich"}',
    )
  })

  it('holds no more than a mebibyte', async () => {
    const { reply, body } = fakeReply()
    body.write('x'.repeat(1024 * 1024), 'x')
    await expect(readRefusal(reply, { deadline: inAMinute(), hidden: HIDDEN })).rejects.toBeInstanceOf(
      UpstreamFailedError,
    )
    expect(body.isDestroyed).toBe(true)
  })
})
