import { hostname, userInfo } from 'node:os'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { createAdminContext, readAdminActor } from '../../../lib/cli/admin/admin-context.ts'
import { CommandValues } from '../../../lib/cli/admin/command.ts'

/** A context, what it wrote to the terminal, and what it asked there. */
function contextOf(options: Record<string, string | true> = {}, { isInteractive = true, typed = 'y' } = {}) {
  const asked: string[] = []
  const written: string[] = []
  const terminal = {
    isInteractive,
    ask: async (question: string) => {
      asked.push(question)
      return typed
    },
    write: async (text: string) => void written.push(text),
    writeError: (text: string) => void written.push(`stderr: ${text}`),
  }
  return { context: createAdminContext(new CommandValues(new Map(Object.entries(options))), terminal), asked, written }
}

describe('createAdminContext', () => {
  it('is of the stage dev on AWS unless the options say otherwise', () => {
    expect(contextOf().context).toMatchObject({ local: false, stage: 'dev', dataDirectory: '.data', json: false })
    const options = { local: true, stage: 'prod', 'data-dir': 'd', json: true } as const
    expect(contextOf(options).context).toMatchObject({ local: true, stage: 'prod', dataDirectory: 'd', json: true })
  })

  it('writes warnings to stderr, without what a terminal would obey', () => {
    const { context, written } = contextOf()
    context.warn('a\u001b[2Jb')
    expect(written.join('')).toMatch(/^stderr: warning: a.+b\n$/)
    expect(written.join('')).not.toContain('\u001b')
  })
})

describe('createAdminContext: confirm', () => {
  it.each(['y', 'Y ', 'yes'])('takes %j as a yes', async (typed) => {
    const { context, asked } = contextOf({}, { typed })
    await context.confirm('It ends')
    expect(asked).toEqual(['It ends. Go on? [y/N] '])
  })

  it.each(['', 'n', 'yesterday'])('takes %j as a no, which changes nothing', async (typed) => {
    const { context } = contextOf({}, { typed })
    await expect(context.confirm('It ends')).rejects.toMatchObject({ name: 'NotConfirmedError' })
  })

  it('asks nothing with --yes', async () => {
    const { context, asked } = contextOf({ yes: true })
    await context.confirm('It ends')
    expect(asked).toEqual([])
  })

  it.each([
    ['nobody is at the terminal', {}, false],
    ['a program reads the output', { json: true as const }, true],
  ])('refuses where %s, unless the command goes on unattended', async (_, options, isInteractive) => {
    const { context, asked } = contextOf(options, { isInteractive })
    await expect(context.confirm('It ends')).rejects.toThrow(
      'It ends: there is no terminal to ask for confirmation, so say --yes',
    )
    await context.confirm('It ends', { unattended: 'proceed' })
    expect(asked).toEqual([])
  })
})

describe('readAdminActor', () => {
  const sts = mockClient(STSClient)
  const ARN = 'arn:aws:sts::123456789012:assumed-role/Admin/alice'
  const LOCAL_USER = `${userInfo().username}@${hostname()}`
  const environment = { ...process.env }
  beforeEach(() => {
    sts.reset()
    sts.on(GetCallerIdentityCommand).resolves({ Arn: ARN })
  })
  afterEach(() => {
    process.env = { ...environment }
  })

  it('is the ARN of the AWS caller for a deployed stage', async () => {
    expect(await readAdminActor({ local: false })).toEqual({ name: ARN, role: 'operator' })
  })

  it('is the user and the machine for a local host, and AWS is not asked', async () => {
    expect(await readAdminActor({ local: true })).toEqual({ name: LOCAL_USER, role: 'operator' })
    expect(sts.calls()).toEqual([])
  })

  it('is the user where an engine stands in for the table alone, and the caller where one stands in for AWS', async () => {
    process.env.AWS_ENDPOINT_URL_DYNAMODB = 'http://127.0.0.1:8000'
    expect((await readAdminActor({ local: false })).name).toBe(LOCAL_USER)
    process.env.AWS_ENDPOINT_URL = 'http://127.0.0.1:4566'
    expect((await readAdminActor({ local: false })).name).toBe(ARN)
  })

  it('a command without access to AWS says what to do', async () => {
    sts.on(GetCallerIdentityCommand).rejects(Object.assign(new Error('expired'), { name: 'ExpiredToken' }))
    await expect(readAdminActor({ local: false })).rejects.toThrow(
      'AWS refuses the credentials (expired): sign in again, or export others',
    )
    sts.on(GetCallerIdentityCommand).rejects(new Error('no route'))
    await expect(readAdminActor({ local: false })).rejects.toThrow('AWS does not say who calls: no route')
    sts.on(GetCallerIdentityCommand).resolves({})
    await expect(readAdminActor({ local: false })).rejects.toMatchObject({ name: 'CommandFailedError' })
  })
})
