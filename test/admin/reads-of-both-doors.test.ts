import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { READS } from '#lambdas/admin/reads.ts'
import { COMMANDS } from '../../lib/cli/admin/commands.ts'
import { type Gateway, startGateway } from '../e2e/start-gateway.ts'

type Read = {
  readonly command: string
  readonly path: string
  /** Of a request that shows something without `GET`. */
  readonly body?: object
}

/** Reads whose command has logic of its own. */
const WITH_OWN_COMMAND: readonly [string, Read][] = [
  ['list-ledger', { command: 'ledger --tenant Acme', path: '/ledger?tenant=ACME' }],
  ['list-audit', { command: 'audit', path: '/audit' }],
  [
    'reveal-callback-secret',
    { command: 'callback-secret show --tenant demo', path: '/tenants/demo/callback-secret', body: {} },
  ],
]

/** Reads for the console alone, which no command has in this form. */
const OF_CONSOLE: readonly string[] = ['get-overview', 'get-usage']

/** Reads of one tenant that are also of all, and are compared so. */
const OF_ALL: readonly string[] = ['list-keys']

/** How each other operation that reads is asked: by the command that follows from it, about the tenant `demo`. */
const DERIVED: readonly [string, Read][] = READS.flatMap(({ name, path, query = {}, readsTenant }) => {
  const command = COMMANDS.find(({ operation }) => operation === name)
  if (command === undefined) {
    return []
  }
  const isAsked = command.options?.tenant?.required === true || (readsTenant === true && !OF_ALL.includes(name))
  const asked = path.replace('/admin/v1', '').replace('{tenant_id}', 'demo').replace('{key_id}', 'ShownKey')
  const ofKey = path.includes('{key_id}') ? ' --key ShownKey' : ''
  const line = isAsked ? `${command.name} --tenant demo` : `${command.name}${ofKey}`
  return [[name, { command: line, path: isAsked && 'tenant' in query ? `${asked}?tenant=demo` : asked }]]
})

/** Times of the reading, which differ by milliseconds. */
const TIMES = ['as_of', 'minute_from']

describe('the admin API and the command line, at one local host', () => {
  let gateway: Gateway
  let headers: Readonly<Record<string, string>>
  /** Id of a tenant without relayed requests, which have one row over HTTP and two on the command line. */
  let acme: string
  /** Rows of the lists that were read. */
  const lengths = new Map<string, number>()
  const admin = (command: string) => gateway.admin(...command.split(' '))

  async function send(method: string, path: string, body?: object): Promise<object> {
    const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    return Object(await (await fetch(`${gateway.url}/admin/v1${path}`, sent)).json())
  }

  beforeAll(async () => {
    gateway = await startGateway()
    const { key: adminKey } = Object(await admin('console key create --name terraform --role owner'))
    headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
    acme = Object(await admin('tenant create --name Acme --credits 5')).id
    await admin('tenant budget --tenant Acme --amount 2 --period month')
    await admin('tenant suspend --tenant Acme --reason unpaid --yes')
    await admin('tenant alerts --tenant demo --low-balance 1')
    await admin('key create --tenant Acme --name web --models famA-2 --budget 1/day --expires 90d --id ShownKey')
    await admin('channel disable p1-main')
    await admin('tenant grant --tenant Acme --credits 1 --id again')
    const { key } = Object(await admin('key create --tenant demo --name chats'))
    for (const content of ['hi', '[error:500]']) {
      const body = { model: 'chat-default', messages: [{ role: 'user', content }], max_tokens: 5 }
      await gateway.api.withKey(key).send('POST', '/v1/chat/completions', JSON.stringify(body))
    }
  })
  afterAll(() => gateway.stop())

  it('compare every defined read but those of the console alone', () => {
    const compared = [...WITH_OWN_COMMAND, ...DERIVED].map(([name]) => name)
    expect([...compared, ...OF_CONSOLE]).toEqual(expect.arrayContaining(READS.map(({ name }) => name)))
  })

  it.each([...WITH_OWN_COMMAND, ...DERIVED])('show the same JSON for %s', async (_, { command, path, body }) => {
    const shown = Object(await admin(command))
    const responded = body === undefined ? await readWhole(path.replace('ACME', acme)) : await send('POST', path, body)
    const times = Object.fromEntries(TIMES.filter((name) => name in shown).map((name) => [name, expect.any(String)]))
    expect(responded).toEqual({ ...shown, ...times })
    expect(Object.keys(responded)).not.toHaveLength(0)
  })

  /** A list, by pages of one row, without what tells of pages. */
  async function readWhole(path: string): Promise<object> {
    const first = await send('GET', path)
    if (!('next' in first)) {
      return first
    }
    const rows: unknown[] = []
    const [name = ''] = Object.keys(first)
    for (let after: string | null = ''; after !== null; ) {
      const query = new URLSearchParams({ limit: '1', ...(after === '' ? {} : { after }) })
      const page = Object(await send('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`))
      rows.push(...page[name])
      after = page.next
    }
    lengths.set(path, rows.length)
    return { [name]: rows }
  }

  it('have compared lists of more than one page', () => {
    const paged = [...lengths].filter(([, length]) => length > 1).map(([path]) => path)
    expect(paged).toEqual(expect.arrayContaining(['/tenants', '/keys', '/audit', '/requests?tenant=demo']))
  })

  it('change-key and `key set` show the same JSON', async () => {
    const { id } = Object(await admin('key list')).keys[0]
    const changed = await send('PATCH', `/keys/${id}`, { name: 'shop' })
    expect(await admin(`key set --key ${id} --name shop`)).toEqual(changed)
  })
})
