import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { BodiesBeingRead } from '#adapters/http-server/bodies-being-read.ts'
import { BODY_TOO_LATE, BODY_TOO_SLOW, REQUEST_TOO_LARGE } from '#adapters/http-server/gateway-error.ts'
import { readBody } from '#adapters/http-server/read-body.ts'

/** A request whose body the test writes; `null` ends it. */
function requestOf(...chunks: (string | null)[]): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  for (const chunk of chunks) {
    request.push(chunk)
  }
  return request
}

describe('read-body', () => {
  it.each([
    ['no chunk', [null], ''],
    ['one chunk', ['漢字', null], '漢字'],
    ['several chunks', ['ab', 'cd', null], 'abcd'],
  ])('reads a body of %s whole', async (_, chunks, body) => {
    expect((await readBody(requestOf(...chunks), 6)).toString()).toBe(body)
  })

  it('refuses a body above the bound', async () => {
    await expect(readBody(requestOf('abcd', 'efg', null), 6)).rejects.toMatchObject({ refusal: REQUEST_TOO_LARGE })
  })

  it('refuses a body that announces too much, before it comes', async () => {
    const request = requestOf()
    request.headers['content-length'] = '7'
    await expect(readBody(request, 6)).rejects.toMatchObject({ refusal: REQUEST_TOO_LARGE })
  })

  it('fails when the connection ends inside the body', async () => {
    const request = requestOf('ab')
    const body = readBody(request, 6)
    request.destroy()
    await expect(body).rejects.toThrow('the connection ended inside the body')
  })

  it('fails when the connection has ended before the body is read', async () => {
    const request = requestOf()
    const closed = new Promise((resolve) => request.once('close', resolve))
    request.destroy()
    await closed
    await expect(readBody(request, 6)).rejects.toMatchObject({ name: 'BodyCutError' })
  })

  it('is counted among all bodies until it ends, and can be given up', async () => {
    const events: string[] = []
    let giveUp = (_: 'slow' | 'late') => {}
    class Watched extends BodiesBeingRead {
      override begin(source: Parameters<BodiesBeingRead['begin']>[0]) {
        giveUp = source.giveUp
        return { add: (bytes: number) => void events.push(`add ${bytes}`), end: () => void events.push('end') }
      }
    }
    await readBody(requestOf('ab', null), 6, { bodies: new Watched(), owner: 'one' })
    expect(events).toEqual(['add 2', 'end'])
    for (const [reason, refusal] of [
      ['slow', BODY_TOO_SLOW],
      ['late', BODY_TOO_LATE],
    ] as const) {
      const body = readBody(requestOf('ab'), 6, { bodies: new Watched(), owner: 'one' })
      giveUp(reason)
      await expect(body).rejects.toMatchObject({ refusal })
      expect(events.at(-1)).toBe('end')
    }
  })
})
