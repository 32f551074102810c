import { afterEach, describe, expect, it } from 'vitest'
import { engineCredentials, giveSimulatorKey, signWith } from '#local/engine-credentials.ts'

const PAIR = { AWS_ACCESS_KEY_ID: 'AKIAOWN', AWS_SECRET_ACCESS_KEY: 'own' }
const before = { ...process.env }
afterEach(() => {
  process.env = { ...before }
})

describe('the credentials of the engines', () => {
  it('have a secret of their own at every start, and an id that stays, by which some engines keep tables apart', () => {
    const [first, second] = [engineCredentials({}), engineCredentials({})]
    expect(first).toMatchObject({ accessKeyId: second.accessKeyId, isGiven: false })
    expect(first.secretAccessKey).not.toBe(second.secretAccessKey)
    expect(first.secretAccessKey).toMatch(/^[\w-]{43}$/)
  })

  it('are not those of the environment, which are for AWS, as long as all engines are ours', () => {
    expect(engineCredentials(PAIR)).toMatchObject({ isGiven: false })
    expect(engineCredentials({ ...PAIR, AWS_ENDPOINT_URL_DYNAMODB: '' }).secretAccessKey).not.toBe('own')
  })

  it.each(['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_DYNAMODB', 'AWS_ENDPOINT_URL_S3'])(
    'are those of the environment where %s names an engine of somebody else',
    (name) => {
      const endpoint = { [name]: 'http://127.0.0.1:9' }
      const given = { accessKeyId: 'AKIAOWN', secretAccessKey: 'own', isGiven: true }
      expect(engineCredentials({ ...PAIR, ...endpoint })).toEqual(given)
      expect(engineCredentials(endpoint)).toMatchObject({ isGiven: false })
    },
  )

  it('come alone: a profile or a session of the environment would come before them', () => {
    Object.assign(process.env, { AWS_PROFILE: 'work', AWS_SESSION_TOKEN: 'token', ...PAIR })
    signWith({ accessKeyId: 'id', secretAccessKey: 'secret' })
    const { AWS_PROFILE, AWS_SESSION_TOKEN, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env
    expect([AWS_PROFILE, AWS_SESSION_TOKEN]).toEqual([undefined, undefined])
    expect([AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY]).toEqual(['id', 'secret'])
  })
})

describe('the key of the simulated upstreams', () => {
  it('is another at every start, in the variable that it names', () => {
    const first = giveSimulatorKey()
    const second = giveSimulatorKey()
    expect(first.value).not.toBe(second.value)
    expect(process.env[second.name]).toBe(second.value)
  })
})
