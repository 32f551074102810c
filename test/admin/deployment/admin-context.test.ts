import { describe, expect, it } from 'vitest'
import { createAdminContext } from '../../../lib/cli/admin/admin-context.ts'
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

describe('admin-context', () => {
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

describe('admin-context: confirm', () => {
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
