import { createSocket, type Socket } from 'node:dgram'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type NameSources, queryNameServers, resolveName } from '#upstream/guard/outbound-network.ts'

const hostsFile = join(mkdtempSync(join(tmpdir(), 'reelgate-hosts-')), 'hosts')
writeFileSync(
  hostsFile,
  '127.0.0.1 localhost\n# 10.0.0.1 comment.example\n10.0.0.2\tFiles.Example files2.example # end\n',
)

const BY_QUERY = [{ address: '192.0.2.1', family: 4 }]
const BY_LOOKUP = [{ address: '192.0.2.2', family: 4 }]

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }))

function sources(over: Partial<NameSources> = {}): NameSources {
  return { query: async () => BY_QUERY, lookup: async () => BY_LOOKUP, hostsFile, ...over }
}

describe('a host name of the operator', () => {
  it.each(['video.example.com', 'comment.example', 'example.com.'])('%s is asked of name servers', async (name) => {
    expect(await resolveName(name, true, sources())).toEqual(BY_QUERY)
  })

  it.each([
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'printer.local',
    'minio',
    'files.example',
    'FILES2.example.',
  ])('%s is left to the machine, which alone knows it', async (name) => {
    expect(await resolveName(name, true, sources())).toEqual(BY_LOOKUP)
  })

  it.each(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'])(
    'that name servers answer by %s is left to the machine',
    async (code) => {
      expect(await resolveName('minio.storage', true, sources({ query: failing(code) }))).toEqual(BY_LOOKUP)
    },
  )

  it.each(['ETIMEOUT', 'ESERVFAIL'])('that name servers answer by %s has no address', async (code) => {
    await expect(resolveName('slow.example', true, sources({ query: failing(code) }))).rejects.toMatchObject({ code })
  })

  it('is asked of name servers alone where there is no hosts file', async () => {
    expect(await resolveName('files.example', true, sources({ hostsFile: join(hostsFile, 'none') }))).toEqual(BY_QUERY)
  })

  it('keeps the code of the machine when nobody knows it', async () => {
    const unknown = sources({ query: failing('ENOTFOUND'), lookup: failing('ENOTFOUND') })
    await expect(resolveName('nobody.example', true, unknown)).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })

  it('takes one thread at most, and gives it back', async () => {
    let running = 0
    let most = 0
    const lookup = async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise(setImmediate)
      running -= 1
      throw new Error('no such name')
    }
    await Promise.allSettled(Array.from({ length: 10 }, () => resolveName('minio', true, sources({ lookup }))))
    expect(most).toBe(1)
    expect(await resolveName('minio', true, sources())).toEqual(BY_LOOKUP)
  })
})

describe('a host name of a tenant', () => {
  /** A look-up by the machine that never ends, and occupies its thread. */
  const hanging = () => new Promise<never>(() => {})

  it.each(['video.example.com', 'minio', 'printer.local', 'a.localhost'])(
    '%s is asked of name servers',
    async (name) => {
      expect(await resolveName(name, false, sources({ lookup: hanging }))).toEqual(BY_QUERY)
    },
  )

  it.each([
    ['localhost', [{ address: '127.0.0.1', family: 4 }]],
    ['Files2.example.', [{ address: '10.0.0.2', family: 4 }]],
  ])('%s is read in the hosts file', async (name, addresses) => {
    const silent = sources({ lookup: hanging, query: failing('ENOTFOUND') })
    expect(await resolveName(name, false, silent)).toEqual(addresses)
  })

  it.each(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'ETIMEOUT'])(
    'that name servers answer by %s is never left to the machine, where it could hang',
    async (code) => {
      const denied = sources({ query: failing(code), lookup: hanging })
      await expect(resolveName('hangs.example', false, denied)).rejects.toMatchObject({ code })
    },
  )
})

describe('name servers', () => {
  /** Answers by what a name begins with; says nothing to `slow`. */
  let server: Socket
  let asked: string[]
  let address: string
  beforeAll(async () => {
    asked = []
    server = createSocket('udp4')
    server.on('message', (question, { port }) => {
      const { name, type } = questionOf(question)
      asked.push(`${name} ${type}`)
      if (!name.startsWith('slow')) {
        server.send(answerTo(question, name, type), port, '127.0.0.1')
      }
    })
    await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve))
    address = `127.0.0.1:${server.address().port}`
  })
  afterAll(() => {
    server.close()
  })

  const query = (name: string) => queryNameServers(name, [address])

  it('are asked once for both families, and all addresses count', async () => {
    expect(await query('both.example')).toEqual([
      { address: '10.0.0.1', family: 4 },
      { address: '10.0.0.2', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ])
    expect(asked.toSorted()).toEqual(['both.example 1', 'both.example 28'])
  })

  it('may know one family only', async () => {
    expect(await query('four.example')).toEqual([
      { address: '10.0.0.1', family: 4 },
      { address: '10.0.0.2', family: 4 },
    ])
    expect(await query('six.example')).toEqual([{ address: '2001:db8::1', family: 6 }])
  })

  it('say that a name is none by a code that the machine is asked after', async () => {
    await expect(query('none.example')).rejects.toMatchObject({ code: 'ENODATA' })
  })

  it('that never answer hold up nothing else of the process', async () => {
    const slow = Array.from({ length: 50 }, (_, index) => query(`slow${index}.example`).catch((error) => error.code))
    let isOneOver = false
    void Promise.race(slow).then(() => {
      isOneOver = true
    })
    // A file is read by the threads that a look-up of the machine takes.
    await Promise.all(Array.from({ length: 8 }, () => readFile(hostsFile)))
    expect(await query('both.example')).toHaveLength(3)
    expect(isOneOver).toBe(false)
    expect(new Set(await Promise.all(slow))).toEqual(new Set(['ETIMEOUT']))
  })
})

const HEADER_BYTES = 12

function questionOf(question: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: question.readUInt16BE(at + 1), end: at + 5 }
}

/** RFC 1035, 4.1: the question, and a record for each address that the name has of this type. */
function answerTo(question: Buffer, name: string, type: number): Buffer {
  const four = [Buffer.from([10, 0, 0, 1]), Buffer.from([10, 0, 0, 2])]
  const six = [Buffer.from('20010db8000000000000000000000001', 'hex')]
  const known: Readonly<Record<string, Buffer[]>> = {
    'both.example 1': four,
    'both.example 28': six,
    'four.example 1': four,
    'six.example 28': six,
  }
  const records = known[`${name} ${type}`] ?? []
  const { end } = questionOf(question)
  const header = Buffer.from(question.subarray(0, HEADER_BYTES))
  header.writeUInt16BE(0x8180, 2)
  header.writeUInt16BE(records.length, 6)
  header.writeUInt16BE(0, 8)
  header.writeUInt16BE(0, 10)
  const answers = records.map((data) => {
    const record = Buffer.alloc(12)
    record.writeUInt16BE(0xc00c, 0)
    record.writeUInt16BE(type, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt32BE(60, 6)
    record.writeUInt16BE(data.length, 10)
    return Buffer.concat([record, data])
  })
  return Buffer.concat([header, question.subarray(HEADER_BYTES, end), ...answers])
}
