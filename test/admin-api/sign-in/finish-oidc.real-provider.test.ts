import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createAdminKey } from '#store/sessions/admin-keys.ts'
import { startTestTable, type TestTable } from '../../engines/test-table.ts'
import { TESTER } from '../../engines/video-jobs.ts'
import { Browser } from './browser.ts'
import { begin, CALLBACK, comeBack, settingsFor } from './oidc-rig.ts'
import { type RealProvider, signInAtProvider, startRealProvider } from './real-provider.ts'

const environment = { ...process.env }
let engine: TestTable
let provider: RealProvider
beforeAll(async () => {
  engine = await startTestTable()
  provider = await startRealProvider(`http://localhost:8787${CALLBACK}`)
  process.env.CONSOLE_ORIGIN = 'loopback'
  process.env.CONSOLE_OIDC = JSON.stringify(
    settingsFor(provider.issuer, [
      { name: 'owners', when: { groups: 'ada' }, role: 'owner' },
      { name: 'viewers', when: { groups: 'bob' }, role: 'viewer' },
    ]),
  )
})
afterAll(async () => {
  process.env = environment
  await Promise.all([engine.close(), provider.stop()])
})

const table = () => engine.table

/** Signs in through the pages of the provider. */
async function signIn(user: string) {
  const { page, location } = await begin(table)
  const callback = await signInAtProvider(location, user)
  const received = await comeBack(page, Object.fromEntries(callback.searchParams))
  page.pageSecret = /#page=([\w-]{43})"/.exec(String(received.body.text))?.[1]
  return { page, received, callback }
}

describe('a sign-in at a real OpenID provider', () => {
  it.each([
    ['ada', 'owner'],
    ['bob', 'viewer'],
  ])('signs %s in as %s', async (user, role) => {
    const { page, received } = await signIn(user)
    expect(received.status).toBe(200)
    expect(await page.send('GET', '/admin/v1/session')).toMatchObject({
      status: 200,
      body: { kind: 'oidc', role, actor: `${user}@example.com (${user})` },
    })
  })

  it('shows a user without a role what the provider said', async () => {
    const { received } = await signIn('eve')
    expect(received.status).toBe(403)
    expect(String(received.body.text)).toContain('groups: [&quot;eve&quot;]')
  })

  it('ends once: the provider refuses its code the second time', async () => {
    const { page, location } = await begin(table)
    const cookies = new Map(page.cookies)
    const parameters = Object.fromEntries((await signInAtProvider(location, 'ada')).searchParams)
    expect(await comeBack(page, parameters)).toMatchObject({ status: 200 })
    page.cookies = cookies
    expect(await comeBack(page, parameters)).toMatchObject({ status: 400 })
  })

  it('signs one user out everywhere, and nobody else', async () => {
    const [{ page: here }, { page: there }, { page: bob }] = [
      await signIn('ada'),
      await signIn('ada'),
      await signIn('bob'),
    ]
    const owner = new Browser(table)
    await owner.signIn({ key: (await createAdminKey(engine.table, { name: 'root', role: 'owner' }, TESTER)).key })
    expect(await here.send('DELETE', '/admin/v1/sessions')).toMatchObject({ status: 204 })
    const statuses = await Promise.all([there, bob, owner].map((page) => page.send('GET', '/admin/v1/session')))
    expect(statuses.map(({ status }) => status)).toEqual([401, 200, 200])
  })
})
