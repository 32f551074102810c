import { v7 as uuidv7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import type { SampleEvents } from './sample-events.ts'

/** Tests of the functions of the console. */
export function describeConsoleBundles(sample: () => SampleEvents): void {
  /** The token of a session, which the cookie of a sign-in brings. */
  async function signIn(key?: string): Promise<string> {
    const { statusCode, multiValueHeaders, body } = await sample().result(
      'admin-api-sign-in',
      key === undefined ? {} : { body: JSON.stringify({ key }) },
    )
    expect({ statusCode, body }).toMatchObject({ statusCode: 200 })
    const [cookie = ''] = multiValueHeaders?.['set-cookie'] ?? []
    return String(cookie).split(';')[0] ?? ''
  }

  /** Headers of a sample event, some of them replaced. */
  function headersOf(name: string, changes: Readonly<Record<string, string>>) {
    const headers: Record<string, string> = { ...sample().read(name).headers, ...changes }
    const lines = Object.entries(headers).map(([header, value]) => [header, [value]])
    return { headers, multiValueHeaders: Object.fromEntries(lines) }
  }

  describe('the deployed console', () => {
    it('signs in with an API key, which sees the jobs of its tenant and may grant nothing', async () => {
      const cookie = await signIn()
      const { jobId } = await sample().service.jobs.make({ jobId: uuidv7(), stage: 'queued' })
      const list = await sample().request('admin-api-read', headersOf('admin-api-read', { cookie }))
      expect(list).toMatchObject({ statusCode: 200, body: { object: 'list' } })
      expect(JSON.stringify(list.body)).toContain(jobId)
      const grant = await sample().request('admin-api-write', headersOf('admin-api-write', { cookie }))
      expect(grant).toMatchObject({ statusCode: 403 })
    })

    it('signs in with the key of an owner, who grants credits once for an id', async () => {
      const cookie = await signIn(await sample().service.makeAdminKey())
      const send = () => sample().request('admin-api-write', headersOf('admin-api-write', { cookie }))
      expect(await send()).toMatchObject({ statusCode: 200, body: { object: 'grant', credits: '1.5' } })
      expect(await send()).toMatchObject({ statusCode: 200, body: { id: 'sample-grant', repeated: true } })
    })

    it.each(['admin-api-sign-in', 'admin-api-read', 'admin-api-write'])(
      'does not exist for %s without the secret of the front door',
      async (name) => {
        const sent = await sample().request(name, headersOf(name, { 'x-reelgate-front-door': 'guessed' }))
        expect(sent).toMatchObject({ statusCode: 404 })
      },
    )

    it('writes its files into its bucket, and tells CloudFormation', async () => {
      const { receiver, headObject } = sample().service
      await expect(sample().invoke('console-files', { ResponseURL: `${receiver.origin}/files` })).resolves.toBeNull()
      const response = receiver.received.find(({ path }) => path === '/files')
      expect(JSON.parse(response?.text ?? '')).toMatchObject({ Status: 'SUCCESS' })
      expect(await headObject('console/index.html')).toMatchObject({ ContentType: 'text/html; charset=utf-8' })
    })
  })
}
