import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { shellRole } from '#local/upstream-role.ts'

const ENGINE = { AWS_ACCESS_KEY_ID: 'ENGINE', AWS_SECRET_ACCESS_KEY: 'of the engines' }

describe('shellRole', () => {
  const before = { ...process.env }
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'reelgate-role-'))
    Object.assign(process.env, ENGINE, {
      AWS_CONFIG_FILE: join(directory, 'config'),
      AWS_SHARED_CREDENTIALS_FILE: join(directory, 'credentials'),
      AWS_EC2_METADATA_DISABLED: 'true',
    })
  })
  afterEach(() => {
    process.env = { ...before }
  })

  it('is what the variables say, a session token included, before the engines set theirs', async () => {
    const source = shellRole({ AWS_ACCESS_KEY_ID: 'A', AWS_SECRET_ACCESS_KEY: 'S', AWS_SESSION_TOKEN: 'T' })
    expect(await source()).toEqual({ accessKeyId: 'A', secretAccessKey: 'S', sessionToken: 'T' })
  })

  it('is a profile, by what its process prints, with its end', async () => {
    const printed = {
      Version: 1,
      AccessKeyId: 'P',
      SecretAccessKey: 'S',
      SessionToken: 'T',
      Expiration: '2099-01-01T00:00:00.000Z',
    }
    writeFileSync(join(directory, 'printed.json'), JSON.stringify(printed))
    writeFileSync(
      join(directory, 'config'),
      `[profile models]\ncredential_process = cat ${join(directory, 'printed.json')}\n`,
    )
    const source = shellRole({ AWS_PROFILE: 'models', ...ENGINE })
    expect(await source()).toMatchObject({
      accessKeyId: 'P',
      secretAccessKey: 'S',
      sessionToken: 'T',
      expiresAt: Date.parse(printed.Expiration),
    })
  })

  it('says what to set where the shell has nothing, and does not take what engines have', async () => {
    await expect(shellRole({})()).rejects.toThrow('set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE')
  })
})
