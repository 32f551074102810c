import type { ServerResponse } from 'node:http'
import { expect } from '@jest/globals'
import { CHAT, startRelayRig } from '../engines/relay-rig.ts'
import { ROLE_CHOICES, roleEvent } from '../relay/protocols/role-chunks.ts'

export const BODY = { model: CHAT, messages: [{ role: 'user', content: 'Say hi' }], max_tokens: 100, stream: true }
/** What USAGE comes to: 9 tokens at 1,000 and 3 at 2,000 per million. */
export const COST = 15_000n
/** The event that ends a stream whose upstream fails. */
export const BROKEN = {
  error: { message: 'the upstream broke off its answer', type: 'server_error', param: null, code: 'upstream_error' },
}
/** An event with a role and nothing generated. */
export const ROLE = roleEvent(ROLE_CHOICES['a refusal that is null'])

/** Events of the upstream as a client gets them. */
export const asPublic = (events: string) => events.replaceAll('upstream-chat', CHAT)

/** The relay over one scripted upstream, once per test file. */
export async function startStreamRelay() {
  const rig = await startRelayRig()
  return {
    table: rig.table,
    answerWith: (answer: (response: ServerResponse) => void | Promise<void>) => rig.upstreams[0]?.answerWith(answer),
    /** A tenant with one credit, for one test. */
    openTenant: async () => {
      const { id, key } = await rig.tenant('1')
      const rows = () => rig.rows(id)
      const balance = () => rig.balance(id)
      /** The one settlement of the tenant, whose ledger must hold nothing else and whose balance must add up. */
      const settlement = async () => {
        const settled = (await rows()).filter(({ kind }) => kind !== 'reserve')
        expect(settled).toHaveLength(1)
        expect(await balance()).toMatchObject({ held: '0' })
        return settled[0]
      }
      const send = (body: unknown, call: Parameters<typeof rig.send>[1] = {}) => rig.send(body, { key, ...call })
      return { key, rows, balance, settlement, send }
    },
    close: () => rig.close(),
  }
}

export type StreamRelay = Awaited<ReturnType<typeof startStreamRelay>>
export type StreamingTenant = Awaited<ReturnType<StreamRelay['openTenant']>>
