import { describe, expect, it } from 'vitest'
import { frontDoorSecret } from '../../../lib/cli/admin/front-door.ts'
import { CommandFailedError, OutputNotFoundError } from '../../../lib/cli/failures.ts'

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
