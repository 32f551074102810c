import { beforeEach, describe, expect, it } from 'vitest'
import { frontDoorFinish, frontDoorRotate } from '../../../lib/cli/admin/front-door.ts'
import { FakeSecret } from '../../cdn-signing-key/key-services.ts'
import { recordingTable } from '../audit/recording-table.ts'
import { runCommand } from '../command-line/run-command.ts'

const FIRST = 'first-value-of-the-front-door'
const outputs = { FrontDoorSecretArn: 'arn:front-door' }
let secret: FakeSecret
let audited: ReturnType<typeof recordingTable>

beforeEach(() => {
  secret = new FakeSecret()
  secret.text = JSON.stringify({ current: FIRST, oidc_client_secret: 'kept' })
  audited = recordingTable()
})

const entries = () => JSON.parse(secret.text)
const rotate = () => runCommand(frontDoorRotate, { table: audited.table, outputs })
const finish = (confirm = async () => undefined) =>
  runCommand(frontDoorFinish, { table: audited.table, outputs, confirm })

describe('front-door rotate', () => {
  it('keeps the old value accepted beside a new one, and all other entries', async () => {
    const answer = await rotate()
    expect(entries()).toMatchObject({ previous: FIRST, oidc_client_secret: 'kept' })
    expect(entries().current).toMatch(/^[\w-]{64}$/)
    expect(answer.text).toContain(`-c frontDoorSecretVersion=${Object(answer.json).version}`)
    expect(JSON.stringify([answer, audited.entries])).not.toMatch(new RegExp(`${FIRST}|${entries().current}`))
    expect(audited.entries).toMatchObject([{ action: 'front-door rotate', kind: 'secret', target: 'front-door' }])
  })

  it('is refused before the last one is finished, because the value that is sent would be refused', async () => {
    await rotate()
    const before = secret.text
    await expect(rotate()).rejects.toThrow('the last rotation is not finished')
    expect(secret.text).toBe(before)
  })

  it('refuses a secret that proves nothing, and a local host', async () => {
    await expect(runCommand(frontDoorRotate, { local: true })).rejects.toThrow('a local host has no front door')
    secret.text = '{}'
    await expect(rotate()).rejects.toThrow('not a JSON object with the entry current')
  })
})

describe('front-door finish', () => {
  it('ends the old value, and leaves a value in its place that nobody knows', async () => {
    await rotate()
    const { current } = entries()
    await finish()
    expect(entries()).toMatchObject({ current, oidc_client_secret: 'kept' })
    expect(entries().previous).toMatch(/^[\w-]{64}$/)
    expect(entries().previous).not.toBe(FIRST)
    await rotate()
    expect(entries().previous).toBe(current)
  })

  it('is refused without a rotation, and does nothing unless confirmed', async () => {
    await expect(finish()).rejects.toThrow('no rotation has begun')
    await rotate()
    const refused = () => Promise.reject(new Error('not confirmed'))
    await expect(finish(refused)).rejects.toThrow('not confirmed')
    expect(entries().previous).toBe(FIRST)
  })
})
