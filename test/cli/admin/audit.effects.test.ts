import { isDeepStrictEqual } from 'node:util'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { READS } from '#lambdas/admin/reads.ts'
import type { NamedWrites, Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { audit } from '../../../lib/cli/admin/audit.ts'
import { COMMANDS } from '../../../lib/cli/admin/commands.ts'
import { readPartition } from '../../engines/audit.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { REQUEST } from '../../engines/video-jobs.ts'
import { ACCOUNT_EFFECTS, STAGE_EFFECTS } from './audited-effects.ts'
import { type AuditedStage, SECRET_VALUE, startAuditedStages } from './audited-stage.ts'
import { runCommand } from './run-command.ts'

const stages = useOpened(startAuditedStages)
let stage: AuditedStage
beforeEach(async () => {
  stage = await stages.open()
})

/** Commands without an effect, besides those of operations that read. A command that is in neither list fails the first test. */
const READING = [
  ...COMMANDS.filter(({ operation }) => READS.some(({ name }) => name === operation)).map(({ name }) => name),
  ...['alert list', 'callback-secret show', 'secret list', 'cdn-key list', 'job find', 'job show', 'job timeline'],
  ...[
    'job list',
    'ledger',
    'ledger export',
    'ledger statement',
    'usage',
    'audit',
    'identity test',
    'catalogue check',
    'catalogue diff',
    'health',
  ],
  // The sign-in by the link has an entry.
  ...['stack-trace', 'console key list', 'console link'],
]

/** A table that cannot store an entry of the audit log, alone or with other writes. */
function withoutAudit(table: Table): Table {
  const { PK } = tableKeys.auditEntry('')
  const transact = async (writes: NamedWrites) => {
    if (Object.values(writes).some((write) => write !== undefined && 'Put' in write && write.Put.Item.PK === PK)) {
      throw new Error('no room for an entry')
    }
    await table.transact(writes)
  }
  return { ...table, transact }
}

const AUDITED_EFFECTS = [...ACCOUNT_EFFECTS, ...STAGE_EFFECTS]

const CASES = AUDITED_EFFECTS.map((effect) => ({ ...effect, with: effect.repeat === 'nothing' ? 'once' : 'each time' }))

describe('the audit log', () => {
  it('has an entry of every command, but for those without an effect', () => {
    const covered = [...READING, ...AUDITED_EFFECTS.map(({ command }) => command)]
    expect(new Set(covered)).toEqual(new Set(COMMANDS.map(({ name }) => name)))
  })

  it.each(CASES)('has one entry of $command, with the actor and the change, $with', async (effect) => {
    const options = await effect.options(stage)
    const before = await stage.entries()
    await stage.run(effect.command, options)
    const [entry, ...others] = await stage.entries()
    expect(others).toEqual(before)
    expect(entry?.action).toBe(effect.action ?? effect.command)
    expect(entry).toMatchObject({ actor: 'tester@test', role: 'operator', ...effect.entry })
    await stage.run(effect.command, options).catch(() => undefined)
    expect(await stage.entries()).toHaveLength(before.length + (effect.repeat === 'nothing' ? 1 : 2))
  })

  it.each(CASES.filter(({ refused }) => Object.keys(refused).length > 0))(
    'has no entry of $command when the command is refused',
    async ({ command, options: optionsOf, refused }) => {
      const options = await optionsOf(stage)
      const before = await stage.entries()
      await expect(stage.run(command, { ...options, ...refused })).rejects.toThrow()
      expect(await stage.entries()).toEqual(before)
    },
  )

  it.each(CASES)('has no entry of $command when a person declines', async ({ command, options: optionsOf }) => {
    const options = await optionsOf(stage)
    const before = await stage.everything()
    let isAsked = false
    const confirm = async () => {
      isAsked = true
      throw new Error('declined')
    }
    await stage.run(command, options, { confirm }).catch(() => undefined)
    expect(isDeepStrictEqual(await stage.everything(), before)).toBe(isAsked)
  })

  it.each(CASES.filter(({ isRecorded }) => isRecorded !== 'after'))(
    'is part of $command: without the entry nothing changes',
    async ({ command, options: optionsOf }) => {
      const options = await optionsOf(stage)
      const before = await stage.everything()
      const table = withoutAudit(stage.table)
      await expect(stage.run(command, options, { table })).rejects.toThrow('no room for an entry')
      expect(await stage.everything()).toEqual(before)
    },
  )

  it('has one entry of a grant or an adjustment that runs several times at once under one id', async () => {
    const tenant = stage.tenant.tenantId
    const before = await stage.entries()
    const grant = () => stage.run('tenant grant', { tenant, credits: '1', id: 'one' })
    const adjust = () => stage.run('tenant adjust', { tenant, amount: '-1', reason: 'why', id: 'one' })
    await Promise.all([grant(), grant(), grant(), adjust(), adjust(), adjust()])
    expect(await stage.entries()).toHaveLength(before.length + 2)
  })

  it.each(CASES)(
    'holds no key, secret, digest, prompt or url after $command',
    async ({ command, action = command, options }) => {
      await stage.run(command, await options(stage))
      const stored = JSON.stringify(await readPartition(stage.table, tableKeys.auditEntry('').PK))
      expect(stored).toContain(action)
      expect(stored).not.toMatch(/whsec_|rg_live_|PRIVATE KEY|secret-path|[?&]/)
      for (const secret of [SECRET_VALUE, stage.tenant.keyDigest, stage.tenant.webhookSecret, REQUEST.prompt]) {
        expect(stored).not.toContain(secret)
      }
    },
  )

  it('is shown by `admin audit`, by the target of each entry', async () => {
    await stage.run('key set', { key: stage.tenant.keyDigest.slice(0, 8), rate: '30' })
    const [{ target } = { target: '' }] = await stage.entries()
    const { text } = await runCommand(audit, { table: stage.table, options: { target } })
    expect(text.split('\n')[1]).toMatch(new RegExp(`Z {2}tester@test +key set +${target} +rate none -> 30$`))
  })
})
