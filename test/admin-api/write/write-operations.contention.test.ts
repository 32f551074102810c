import { describe, expect, it } from 'vitest'
import { ConditionsNotMetError } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { PER_SECOND_MODEL } from '../../engines/test-catalogue.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { openTenant } from '../../engines/video-jobs.ts'
import { startWriteRig, type WriteRig, writeCaller } from './write-rig.ts'

const rig = useOpened(startWriteRig)

/** Calls over a table whose conditions others change before every transaction. */
function contendedCall(): WriteRig['call'] {
  const transact = async () => {
    throw new ConditionsNotMetError(['balance', 'switches'])
  }
  return writeCaller({ ...rig.table, transact, updateItem: async () => ({ isWritten: false, item: undefined }) })
}

async function targets() {
  const { tenantId: tenant } = await openTenant(rig.table)
  const { tenantId: suspended } = await openTenant(rig.table)
  await rig.call('POST', `/tenants/${suspended}/suspension`)
  const { id: key } = (await rig.call('POST', '/keys', { body: { tenant } })).body
  return { tenant, suspended, key }
}

describe('writes whose target others change all the time', () => {
  it.each<[string, string, string, object | undefined]>([
    ['change-tenant 409', 'PATCH', '/tenants/{tenant}', { name: 'New' }],
    ['suspend-tenant 409', 'POST', '/tenants/{tenant}/suspension', {}],
    ['resume-tenant 409', 'DELETE', '/tenants/{suspended}/suspension', undefined],
    ['create-key 409', 'POST', '/keys', { tenant: '{tenant}' }],
    ['revoke-key 409', 'POST', '/keys/{key}/revocation', {}],
    ['change-channel 409', 'PATCH', '/channels/main', { disabled: true }],
    ['change-model 409', 'PATCH', `/models/${PER_SECOND_MODEL}`, { disabled: true }],
  ])('%s, and nothing is changed', async (_, method, path, body) => {
    const named = Object.entries(await targets())
    const concrete = (text: string) => named.reduce((all, [name, id]) => all.replace(`{${name}}`, id), text)
    const sent = body === undefined ? {} : { body: JSON.parse(concrete(JSON.stringify(body))) }
    const refused = await contendedCall()(method, concrete(path), sent)
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'changed_meanwhile' } } })
  })

  it.each([
    ['clear-channel 409', '/channels/main'],
    ['clear-model 409', `/models/${PER_SECOND_MODEL}`],
  ])('%s, and the switch stays', async (_, path) => {
    await rig.call('PATCH', path, { body: { disabled: true } })
    const before = await rig.table.readItem(tableKeys.switches())
    const refused = await contendedCall()('DELETE', `${path}/switches`)
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'changed_meanwhile' } } })
    expect(await rig.table.readItem(tableKeys.switches())).toEqual(before)
  })
})
