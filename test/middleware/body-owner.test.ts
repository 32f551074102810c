import { describe, expect, it } from '@jest/globals'
import { startRelayRig } from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'

const rig = useOpened(startRelayRig)

/** A key of the right form and checksum that nobody has. */
const INVENTED = 'invented-key'

type Sent = { readonly keys?: readonly string[]; readonly length?: number; readonly takesKey?: boolean }

async function ownerOf({ keys = [], length, takesKey = true }: Sent) {
  const { bodyOwner } = await import('#middleware/body-owner.ts')
  const headers = length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(length) }
  const headersDistinct = keys.length === 0 ? {} : { authorization: keys.map((key) => `Bearer ${key}`) }
  const socket = Object({ remoteAddress: '192.0.2.1' })
  return await bodyOwner({ headers, headersDistinct, socket }, takesKey)
}

describe('bodyOwner', () => {
  it('is the tenant of the key for a large body, and for one without a length', async () => {
    const { id, key } = await rig.tenant()
    expect(await ownerOf({ keys: [key], length: 65_537 })).toBe(`tenant ${id}`)
    expect(await ownerOf({ keys: [key] })).toBe(`tenant ${id}`)
  })

  it.each<[string, Sent]>([
    ['without a key', { length: 2 }],
    ['with a mistyped key', { keys: ['rg_live_00000000_x'], length: 2 }],
    ['with an admin key', { keys: ['rg_admin_x'], length: 2 }],
    ['with two keys', { keys: [INVENTED, INVENTED], length: 2 }],
    ['with an invented key and a large body', { keys: [INVENTED], length: 65_537 }],
    ['with an invented key and a body without a length', { keys: [INVENTED] }],
  ])('is nobody for a request %s', async (_, sent) => {
    expect(await ownerOf(sent)).toBeUndefined()
  })

  it('is one for all small bodies, whose keys are not read for this', async () => {
    expect(await ownerOf({ keys: [INVENTED], length: 65_536 })).toBe('small bodies')
  })

  it('is the address where no key is needed', async () => {
    expect(await ownerOf({ length: 65_537, takesKey: false })).toBe('address 192.0.2.1')
  })
})
