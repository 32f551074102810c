import { beforeEach, describe, expect, it } from '@jest/globals'
import { frontDoorFinish, frontDoorRotate, frontDoorSecret } from '../../../lib/cli/admin/front-door.ts'
import { CommandFailedError, OutputNotFoundError } from '../../../lib/cli/failures.ts'
import { FakeSecret } from '../../cdn-signing-key/key-services.ts'
import { recordingTable, runCommand } from './run-command.ts'

describe('front door commands', () => {
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
})

const stage = (output: () => Promise<string>) => ({ local: false, stage: 'prod', output })

describe('frontDoorSecret', () => {
  it('is the output of the stage', async () => {
    expect(await frontDoorSecret(stage(async () => 'arn:front-door'))).toMatchObject({ arn: 'arn:front-door' })
  })

  it('says that a stage has no front door, and passes other failures on', async () => {
    const missing = () => Promise.reject(new OutputNotFoundError('no output'))
    await expect(frontDoorSecret(stage(missing))).rejects.toThrow('the stage prod has no front door')
    const failed = () => Promise.reject(new CommandFailedError('no stage prod'))
    await expect(frontDoorSecret(stage(failed))).rejects.toThrow('no stage prod')
  })

  it('says what a local host has instead', async () => {
    const local = { ...stage(async () => ''), local: true }
    await expect(frontDoorSecret(local)).rejects.toThrow('a local host has no front door')
    await expect(frontDoorSecret(local, 'set a variable')).rejects.toThrow('set a variable')
  })
})
