import { beforeAll, describe, expect, it } from '@jest/globals'
import {
  accessibilityViolations,
  type ConsoleHost,
  confirm,
  DEMO_KEY,
  type SharedConsole,
  show,
} from './console-host.ts'

let host: ConsoleHost

const chatWith = async (key: string) => {
  const body = { model: 'chat-default', messages: [{ role: 'user', content: 'hello' }] }
  return (await host.gateway.api.withKey(key).send('POST', '/v1/chat/completions', JSON.stringify(body))).status
}

/** What an owner changes: keys, balances, models, channels, tenants. */
export function testOwnerEffects(shared: () => SharedConsole): void {
  describe('an owner', () => {
    beforeAll(() => {
      host = shared().host
    })

    it('makes a key that is shown once and works, and revokes it', async () => {
      const page = await host.owner()
      await page.goto('/console/keys?tenant=demo')
      await page.getByRole('button', { name: 'New key' }).first().click()
      await page.getByLabel('Name').fill('search')
      await page.getByRole('button', { name: 'Create the key' }).click()
      const key = await page.getByRole('dialog', { name: 'The new key' }).locator('code').innerText()
      expect(key).toMatch(/^rg_live_/)
      expect(await accessibilityViolations(page)).toEqual([])
      await confirm(page, 'I have copied it')
      await page.locator('button:focus').filter({ hasText: 'New key' }).waitFor()
      expect(await chatWith(key)).toBe(200)
      await page.reload()
      const row = page.getByRole('row').filter({ hasText: 'search' })
      await row.waitFor()
      expect(await page.content()).not.toContain(key)
      expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain(key)

      await row.getByRole('button', { name: /revoke/i }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel(/to confirm/).fill('search')
      await confirm(page, 'Revoke the key')
      await row.getByText('revoked').waitFor()
      // The button that opened the dialog is gone.
      await page.locator('h1:focus').waitFor()
      expect(await chatWith(key)).toBe(401)
    })

    it('grants and corrects credits, and sees the rows in the ledger', async () => {
      const page = await host.owner()
      await page.goto('/console/tenants/demo')
      await page.getByRole('button', { name: 'Grant credits' }).click()
      await page.getByRole('textbox', { name: 'Credits' }).fill('50')
      await page.getByLabel('Note').fill('a welcome')
      await confirm(page, /^Grant 50/)
      await page.getByRole('button', { name: 'Adjust' }).click()
      await page.getByRole('textbox', { name: 'Credits' }).fill('-7.5')
      await page.getByLabel('Reason').fill('granted too much')
      expect(await accessibilityViolations(page)).toEqual([])
      await confirm(page, /^Adjust by/)
      const { granted } = Object(await host.gateway.admin('tenant', 'show', '--tenant', 'demo'))
      expect(granted).toBe('142.5')
      await page.goto('/console/ledger?tenant=demo')
      await page.getByRole('row').filter({ hasText: 'granted too much' }).waitFor()
      await page.getByRole('button', { name: 'Statement' }).click()
      const statement = page.getByRole('dialog').getByRole('row')
      await statement.filter({ hasText: 'Closing balance' }).waitFor()
      const amounts: string[] = await statement.locator('data').evaluateAll((all) => all.map(({ value }) => value))
      const [opening, grants, adjusted, spent, closing] = amounts.map((amount) => Math.round(Number(amount) * 1e6))
      expect([opening, grants, adjusted]).toEqual([0, 150_000_000, -7_500_000])
      expect(closing).toBe(142_500_000 + Number(spent))
      expect(await host.gateway.admin('ledger', 'verify')).toMatchObject({ broken: [] })
    })

    it('sets the budget and the alerts of a tenant beside the values that the page shows', async () => {
      const page = await host.owner()
      await show(page, '/console/tenants/demo')
      await page.getByRole('button', { name: 'Change limits' }).click()
      await page.getByLabel('Budget').fill('500')
      await confirm(page, 'Save')
      await page.getByRole('region', { name: 'Limits' }).getByText('of 500.00').waitFor()

      const alerts = page.getByRole('region', { name: 'Alerts' })
      await alerts.getByRole('button', { name: 'Change alerts' }).click()
      await page.getByRole('dialog').getByText('Nothing has changed').waitFor()
      await page.getByText('Operators get every alert of a stage that has alarms').waitFor()
      await page.getByLabel('Alert at percentages').fill('75, 90')
      await page.getByLabel('Alert at a balance below').fill('5')
      await page.getByLabel('Send them to').fill('https://not-allowed.example/')
      expect(await accessibilityViolations(page)).toEqual([])
      host.browser.expectProblem(/status of 400/)
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('alert').getByText('must have a host on the allowlist').waitFor()
      await page.getByLabel('Send them to').fill('')
      await confirm(page, 'Save')
      await alerts.getByText('at 75 %, 90 %').waitFor()
      await alerts.getByText('below 5.00').waitFor()
      expect(await alerts.getByText(/operators/i).count()).toBe(0)
      expect(await host.gateway.admin('tenant', 'alerts', '--tenant', 'demo')).toMatchObject({
        thresholds: [75, 90],
        low_balance: '5',
        url: null,
      })
    })

    it('disables a model and enables it again', async () => {
      const page = await host.owner()
      await page.goto('/console/channels')
      const row = page.getByRole('row').filter({ hasText: 'text-embedding-3-small' }).last()
      await row.getByRole('button', { name: /disable/i }).click()
      await confirm(page, 'Disable')
      await row.getByText('disabled').first().waitFor()
      await row.getByRole('button', { name: /enable/i }).click()
      await confirm(page, 'Enable')
      await row.getByText('disabled').first().waitFor({ state: 'detached' })
    })
    it('changes the weight of a channel, and lets it follow its configuration again', async () => {
      const page = await host.owner()
      await show(page, '/console/channels')
      const row = page.getByRole('row').filter({ hasText: 'p2-proxy' }).first()
      await row.getByRole('button', { name: 'Weight' }).click()
      await page.getByText('The configuration says weight 1').waitFor()
      await page.getByRole('textbox', { name: 'Weight' }).fill('2.5')
      await confirm(page, 'Save')
      await row.getByRole('cell', { name: '2.5', exact: true }).waitFor()
      const shown = async () => JSON.stringify(await host.gateway.admin('channel', 'list'))
      expect(await shown()).toContain('2.5')
      await row.getByRole('button', { name: 'Clear' }).click()
      await confirm(page, 'Clear')
      await row.getByRole('button', { name: 'Clear' }).waitFor({ state: 'detached' })
      expect(await shown()).not.toContain('2.5')
    })

    it('suspends a tenant only after its id is typed, and resumes it', async () => {
      const page = await host.owner()
      await show(page, '/console/tenants/demo')
      await page.getByRole('button', { name: 'Suspend' }).click()
      const suspend = page.getByRole('dialog').getByRole('button', { name: 'Suspend' })
      await page.getByLabel('Reason').fill('an unpaid invoice')
      expect(await suspend.getAttribute('aria-disabled')).toBe('true')
      expect(await accessibilityViolations(page)).toEqual([])
      await page.getByLabel('Type demo to confirm').fill('demo')
      await confirm(page, 'Suspend')
      await page.getByText('an unpaid invoice').waitFor()
      expect(await chatWith(DEMO_KEY)).toBe(401)
      await page.getByRole('button', { name: 'Resume' }).click()
      await confirm(page, 'Resume')
      await page.getByRole('button', { name: 'Suspend' }).waitFor()
      expect(await chatWith(DEMO_KEY)).toBe(200)
    })
  })
}
