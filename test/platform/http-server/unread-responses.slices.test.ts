import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from '@jest/globals'
import { SLICE_BYTES, writeInSlices } from '#platform/http-server/unread-responses.ts'

/** A response with room for some writes before each `drain`. */
class Pipe extends EventEmitter {
  readonly written: Buffer[] = []
  room = 1

  write(bytes: Buffer): boolean {
    this.written.push(bytes)
    this.room -= 1
    return this.room > 0
  }

  drain(room: number): void {
    this.room = room
    this.emit('drain')
  }
}

function writing(bytes: Buffer) {
  const pipe = new Pipe()
  const events: string[] = []
  const calls = { onTaken: () => void events.push('taken'), onDone: () => void events.push('done') }
  writeInSlices(pipe as unknown as ServerResponse, bytes, calls)
  return { pipe, events }
}

describe('writeInSlices', () => {
  it('writes one slice each time its client has taken one, and every byte once', () => {
    const bytes = Buffer.alloc(2 * SLICE_BYTES + 1, 'x')
    const { pipe, events } = writing(bytes)
    expect(pipe.written.map((slice) => slice.length)).toEqual([SLICE_BYTES])
    pipe.drain(1)
    expect(events).toEqual(['taken'])
    pipe.drain(9)
    expect(events).toEqual(['taken', 'taken', 'done'])
    expect(Buffer.concat(pipe.written)).toEqual(bytes)
  })

  it('is done only when there is room for more', () => {
    const { pipe, events } = writing(Buffer.from('abc'))
    expect(events).toEqual([])
    pipe.drain(1)
    expect(events).toEqual(['taken', 'done'])
  })

  it('is done at once where there is nothing to write', () => {
    expect(writing(Buffer.alloc(0)).events).toEqual(['done'])
  })
})
