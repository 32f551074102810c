import { describe, expect, it } from 'vitest'
import { contextSchema } from '../../lib/config/context-schema.ts'
import { frontDoorSettings } from '../../lib/config/front-door-settings.ts'

const values = (given: object) => contextSchema.parse({ stage: 'prod', console: 'on', ...given })

describe('frontDoorSettings', () => {
  it('has what is set', () => {
    const secretVersion = '0198b3a0-0000-7000-8000-000000000002'
    expect(
      frontDoorSettings(values({ frontDoorDistributionId: 'E2QWRUHAPOMQZL', frontDoorSecretVersion: secretVersion })),
    ).toEqual({ isApiClosed: false, webAclArn: undefined, distributionId: 'E2QWRUHAPOMQZL', secretVersion })
  })

  it.each([{ console: 'off' }, { cdn: 'off' }, { emulator: 'true' }])('is undefined with %j', (given) => {
    expect(frontDoorSettings(values(given))).toBeUndefined()
  })
})
