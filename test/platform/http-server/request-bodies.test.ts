import { IncomingMessage } from 'node:http'
import { connect, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { REQUEST_TOO_LARGE } from '#core/api/api-gateway.ts'
import { ApiFront } from '#local/api-front.ts'
import { BODY_TOO_LATE, BODY_TOO_SLOW } from '#platform/http-server/gateway-error.ts'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import { BodiesBeingRead, readBody } from '#platform/http-server/request-bodies.ts'

describe('bodies being read', () => {
  const MIB = 1024 * 1024
  const SMALL_BODY_BYTES = 65_536
  const SOCKET_READ_BYTES = 65_536
  const BOUNDS = { ownerBytesMax: 8 * MIB, lookMilliseconds: 100 }

  /** Counts what the front holds of unfinished bodies, from outside. */
  class WatchedBodies extends BodiesBeingRead {
    held = 0
    most = 0

    override begin(...[source, owner]: Parameters<BodiesBeingRead['begin']>) {
      const body = super.begin(source, owner)
      let bytes = 0
      return {
        add: (more: number) => {
          bytes += more
          this.held += more
          this.most = Math.max(this.most, this.held)
          body.add(more)
        },
        end: () => {
          this.held -= bytes
          bytes = 0
          body.end()
        },
      }
    }
  }

  let bodies: WatchedBodies
  let server: HttpServer
  const sockets: Socket[] = []
  beforeEach(async () => {
    bodies = new WatchedBodies(BOUNDS)
    const handler = async (event: { body: string }) => ({ statusCode: 200, body: `read ${event.body.length}` })
    const target = { name: 'things', timeoutSeconds: 30, load: async () => ({ handler }) }
    const route = () => ({ resource: '/', pathParameters: null, streams: false, target })
    const front = new ApiFront(route, { bodies })
    server = await listen((request, response) => void front.serve(request, response), 0)
  })
  afterEach(async () => {
    for (const socket of sockets.splice(0)) {
      socket.destroy()
    }
    await server.close()
  })

  /** Announces a body and sends some of it. */
  function begin(announced: number, sent: number) {
    const socket = connect(server.port, '127.0.0.1')
    sockets.push(socket)
    const answer = new Promise<string>((resolve) => {
      let text = ''
      socket.setEncoding('utf8').on('data', (data) => {
        text += data
      })
      socket.on('error', () => undefined).on('close', () => resolve(text))
    })
    socket.write(`POST / HTTP/1.1\r\nhost: local\r\nconnection: close\r\ncontent-length: ${announced}\r\n\r\n`)
    socket.write(Buffer.alloc(sent, ' '))
    return { socket, answer }
  }

  const send = (bytes: number) => begin(bytes, bytes).answer

  describe('request bodies that never end', () => {
    it('are held up to the bound of the process, however many they are', async () => {
      const senders = Array.from({ length: 20 }, () => begin(4 * MIB, 4 * MIB - 1))
      await sleep(200)
      // Above the bound, the oldest body is read on; each other one stops after its small part and one more read of its socket.
      const others = senders.length * (SMALL_BODY_BYTES + SOCKET_READ_BYTES)
      expect(bodies.most).toBeLessThan(BOUNDS.ownerBytesMax + 4 * MIB + others)
    })

    it('are given up with a sentence when others wait for their memory', async () => {
      const answers: string[] = []
      for (let index = 0; index < 4; index += 1) {
        void begin(4 * MIB, 4 * MIB - 1).answer.then((answer) => answers.push(answer))
      }
      while (answers.length < 2) {
        await sleep(20)
      }
      for (const answer of answers) {
        expect(answer).toMatch(/^HTTP\/1\.1 408 /)
        expect(answer).toContain(
          '"message":"the body came too slowly while others waited to be read: send the request again"',
        )
      }
    })

    it('keep no small request waiting, and no large one for long', async () => {
      const stalled = Array.from({ length: 10 }, () => begin(4 * MIB, 4 * MIB - 1))
      await sleep(100)
      const first = await Promise.race([send(1_000), ...stalled.map(({ answer }) => answer)])
      expect(first).toContain('read 1000')
      expect(await send(6 * MIB)).toContain(`read ${6 * MIB}`)
    })

    it('do no harm while there is room', async () => {
      const { socket, answer } = begin(4 * MIB, 4 * MIB - 1)
      await sleep(1_000)
      socket.write(' ')
      expect(await answer).toContain(`read ${4 * MIB}`)
    })

    it('that trickle count as those that stand still', async () => {
      const { socket, answer } = begin(7 * MIB, 6 * MIB)
      const trickle = setInterval(() => socket.write(' '), 20)
      begin(7 * MIB, 6 * MIB)
      expect(await answer).toMatch(/^HTTP\/1\.1 408 /)
      clearInterval(trickle)
    })
  })

  describe('honest bodies', () => {
    it('that are more than the bound together are all read, one after the other', async () => {
      const answers = await Promise.all(Array.from({ length: 12 }, () => send(5 * MIB)))
      for (const answer of answers) {
        expect(answer).toContain(`read ${5 * MIB}`)
      }
      expect(bodies.most).toBeLessThan(BOUNDS.ownerBytesMax + 10 * MIB)
      expect(bodies.held).toBe(0)
    })

    it('leave their room when their client leaves', async () => {
      for (let round = 0; round < 5; round += 1) {
        const { socket } = begin(4 * MIB, 3 * MIB)
        await sleep(50)
        socket.destroy()
      }
      while (bodies.held > 0) {
        await sleep(20)
      }
      expect(await send(4 * MIB)).toContain('read')
    })
  })

  describe('first bytes of so many bodies that they are too much', () => {
    it('are held up to twice the bound', () => {
      const counted = new BodiesBeingRead({ ownerBytesMax: 1_000_000, lookMilliseconds: 1_000 })
      let givenUp = 0
      for (let index = 0; index < 100; index += 1) {
        const giveUp = () => {
          givenUp += 1
        }
        const source = { pause: () => undefined, resume: () => undefined, giveUp }
        counted.begin(source, 'one').add(60_000)
      }
      expect(100 - givenUp).toBe(Math.floor(2_000_000 / 60_000))
    })

    it('are given up where they hold most, and not the oldest, which may come from an honest sender', () => {
      const counted = new BodiesBeingRead({ ownerBytesMax: 1_000_000, lookMilliseconds: 1_000 })
      const givenUp: string[] = []
      const stalled = { pause: () => undefined, resume: () => undefined, giveUp: () => undefined }
      const honest = { ...stalled, giveUp: () => void givenUp.push('honest') }
      counted.begin(honest, 'one').add(30_000)
      for (let index = 0; index < 100; index += 1) {
        counted.begin(stalled, 'one').add(60_000)
      }
      expect(givenUp).toEqual([])
    })
  })

  describe('the bodies of several owners', () => {
    /** Bodies whose events are noted by the name of the body. */
    function bodiesOf(bounds: ConstructorParameters<typeof BodiesBeingRead>[0]) {
      const events: string[] = []
      const counted = new BodiesBeingRead(bounds)
      const begin = (name: string, owner: string) =>
        counted.begin(
          {
            pause: () => void events.push(`${name} waits`),
            resume: () => void events.push(`${name} goes on`),
            giveUp: (reason) => void events.push(`${name} is ${reason}`),
          },
          owner,
        )
      return { events, begin }
    }

    it('hold up no body of another owner, and each owner has its oldest body read', () => {
      const { events, begin } = bodiesOf({ ownerBytesMax: 1_000_000 })
      const oldest = begin('oldest', 'one')
      oldest.add(600_000)
      begin('next', 'one').add(500_000)
      begin('other', 'two').add(900_000)
      expect(events).toEqual(['next waits'])
      oldest.end()
      expect(events).toEqual(['next waits', 'next goes on'])
    })

    it('wait behind the oldest of their owner when all together are too large, and then the largest of the largest owner goes', () => {
      const { events, begin } = bodiesOf({ ownerBytesMax: 1_000_000, bytesMax: 1_000_000 })
      begin('small', 'one').add(400_000)
      begin('large', 'two').add(700_000)
      const more = begin('more', 'two')
      more.add(200_000)
      expect(events).toEqual(['more waits'])
      begin('third', 'three').add(800_000)
      expect(events.slice(1)).toContain('large is slow')
      expect(events).not.toContain('small is slow')
    })

    it('are given up after the time of a body in all, however they come', async () => {
      const late = Promise.withResolvers<string>()
      const counted = new BodiesBeingRead({ bodyMilliseconds: 100 })
      const body = counted.begin({ pause: () => {}, resume: () => {}, giveUp: late.resolve }, 'one')
      const drip = setInterval(() => body.add(60_000), 10)
      expect(await late.promise).toBe('late')
      clearInterval(drip)
    })
  })
})

/** A request whose body the test writes; `null` ends it. */
function requestOf(...chunks: (string | null)[]): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  for (const chunk of chunks) {
    request.push(chunk)
  }
  return request
}

describe('readBody', () => {
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
