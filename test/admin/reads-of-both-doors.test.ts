import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ADMIN_DOCUMENTS } from '#lambdas/admin/documents.ts'
import { type Gateway, startGateway } from '../e2e/start-gateway.ts'

type Read = {
  readonly command: string
  readonly path: string
  /** Of a request that shows something without `GET`. */
  readonly body?: object
  /** Times of the reading, which differ by milliseconds. */
  readonly times?: readonly string[]
}

/** How each operation that shows something is asked, by its name. The first test fails for one without a row. */
const READS: Readonly<Record<string, Read>> = {
  'list-tenants': { command: 'tenant list', path: '/tenants' },
  'get-tenant': { command: 'tenant show --tenant demo', path: '/tenants/demo' },
  'list-keys': { command: 'key list', path: '/keys' },
  'list-ledger': { command: 'ledger --tenant demo', path: '/ledger?tenant=demo' },
  'verify-ledger': {
    ...{ command: 'ledger verify --tenant demo', path: '/ledger/verification?tenant=demo' },
    times: ['as_of'],
  },
  'list-requests': { command: 'requests --tenant Talker', path: '/requests?tenant=TALKER' },
  'list-audit': { command: 'audit', path: '/audit' },
  'list-channels': { command: 'channel list', path: '/channels', times: ['as_of', 'minute_from'] },
  'list-models': { command: 'model list', path: '/models', times: ['as_of'] },
  'reveal-callback-secret': {
    ...{ command: 'callback-secret show --tenant demo', path: '/tenants/demo/callback-secret' },
    body: {},
  },
}

/** Reads for the console alone, which no command has in this form. */
const OF_CONSOLE = ['get-overview', 'get-usage', 'list-callback-attempts']

describe('the admin API and the command line, at one local host', () => {
  let gateway: Gateway
  let headers: Readonly<Record<string, string>>
  /** A tenant with relayed requests. */
  let talker: string
  const admin = (command: string) => gateway.admin(...command.split(' '))

  async function send(method: string, path: string, body?: object): Promise<object> {
    const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    return Object(await (await fetch(`${gateway.url}/admin/v1${path}`, sent)).json())
  }

  beforeAll(async () => {
    gateway = await startGateway()
    const [, link] = Object(await admin('console link')).link.split('#link=')
    const own = { origin: gateway.url, 'x-reelgate-console': '1', 'content-type': 'application/json' }
    const signIn = { method: 'POST', headers: own, body: JSON.stringify({ link }) }
    const session = await fetch(`${gateway.url}/admin/v1/session`, signIn)
    const cookie = session.headers.getSetCookie()[0]?.split(';', 1).join('') ?? ''
    headers = { ...own, cookie, 'x-reelgate-page': Object(await session.json()).page_secret }
    await admin('tenant create --name Acme --credits 5')
    await admin('tenant budget --tenant Acme --amount 2 --period month')
    await admin('tenant suspend --tenant Acme --reason unpaid --yes')
    await admin('tenant alerts --tenant demo --low-balance 1')
    await admin('key create --tenant Acme --name web --models famA-2 --budget 1/day --expires 90d')
    await admin('channel disable p1-main')
    await admin('tenant grant --tenant demo --credits 1 --id again')
    talker = Object(await admin('tenant create --name Talker --credits 5')).id
    const { key } = Object(await admin('key create --tenant Talker --name chats'))
    for (const content of ['hi', '[error:500]']) {
      const body = { model: 'chat-default', messages: [{ role: 'user', content }], max_tokens: 5 }
      await gateway.api.withKey(key).send('POST', '/v1/chat/completions', JSON.stringify(body))
    }
  })
  afterAll(() => gateway.stop())

  it('have a row above for each read that is defined once', () => {
    const reads = ADMIN_DOCUMENTS.map(({ operation }) => operation).filter(({ method }) => method === 'GET')
    expect([...Object.keys(READS), ...OF_CONSOLE]).toEqual(expect.arrayContaining(reads.map(({ name }) => name)))
  })

  it.each(Object.entries(READS))('show the same JSON for %s', async (_, { command, path, body, times = [] }) => {
    const shown = Object(await admin(command))
    const responded =
      body === undefined ? await readWhole(path.replace('TALKER', talker)) : await send('POST', path, body)
    const anyTimes = Object.fromEntries(times.map((name) => [name, expect.any(String)]))
    expect(responded).toEqual({ ...shown, ...anyTimes })
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
    expect(rows.length).toBeGreaterThan(1)
    return { [name]: rows }
  }

  it('change-key and `key set` show the same JSON', async () => {
    const { id } = Object(await admin('key list')).keys[0]
    const changed = await send('PATCH', `/keys/${id}`, { name: 'shop' })
    expect(await admin(`key set --key ${id} --name shop`)).toEqual(changed)
  })
})
