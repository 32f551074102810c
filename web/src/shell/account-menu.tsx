import { useLocation } from 'preact-iso/router'
import { type Session, signOut, switchTenant } from '../api/session.ts'
import { describeFailure } from '../components/action-dialog.tsx'
import { Icon } from '../components/icon.tsx'
import { tenantUrl } from '../core/console-url.ts'
import { notify } from '../state/notices.ts'
import { changeSettings, type Settings, settings } from '../state/settings.ts'
import { useStore } from '../state/store.ts'

const THEMES: readonly (readonly [Settings['theme'], string])[] = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

/** Who is signed in, how the console looks, and the way out. */
export function AccountMenu({ session, onHelp }: { readonly session: Session; readonly onHelp: () => void }) {
  const { theme, zone } = useStore(settings)
  const leave = () => {
    signOut({ isEverywhere: false }).catch((failure: unknown) =>
      notify(`Signing out failed: ${describeFailure(failure)}`, 'bad'),
    )
  }
  return (
    <div class="account">
      {session.assignments.length > 1 ? <TenantSwitch session={session} /> : null}
      <div class="account-settings">
        <label>
          <span>Theme</span>
          <select
            value={theme}
            onChange={(event) => changeSettings({ theme: event.currentTarget.value as Settings['theme'] })}
          >
            {THEMES.map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>Times</span>
          <select
            value={zone}
            onChange={(event) => changeSettings({ zone: event.currentTarget.value as Settings['zone'] })}
          >
            <option value="utc">UTC</option>
            <option value="local">Local</option>
          </select>
        </label>
      </div>
      <div class="account-row">
        <div class="account-name">
          <strong title={session.actor}>
            {session.tenant === null ? session.actor : <a href={tenantUrl(session.tenant.id)}>{session.tenant.name}</a>}
          </strong>
          <span>{session.role === 'tenant' ? session.actor : session.role}</span>
        </div>
        <button
          type="button"
          class="icon-button"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts"
          onClick={onHelp}
        >
          <Icon name="help" />
        </button>
        <button type="button" class="icon-button" aria-label="Sign out" title="Sign out" onClick={leave}>
          <Icon name="exit" />
        </button>
      </div>
    </div>
  )
}

/** The value of the option for all tenants, which is no id. */
const ALL = ''

/** Chooses among the tenants, or all of them, for which the provider and the rules of the gateway give the person a role. */
function TenantSwitch({ session }: { readonly session: Session }) {
  const { route } = useLocation()
  const change = async (id: string) => {
    try {
      await switchTenant(id === ALL ? null : id)
      // A page may be of a tenant that is out of sight now.
      route('/console')
    } catch (failure) {
      notify(`Switching failed: ${describeFailure(failure)}`, 'bad')
    }
  }
  return (
    <div class="account-settings account-tenant">
      <label>
        <span>Tenant</span>
        <select value={session.tenant?.id ?? ALL} onChange={(event) => void change(event.currentTarget.value)}>
          {session.assignments.map(({ role, tenant }) => (
            <option key={tenant?.id ?? ALL} value={tenant?.id ?? ALL}>
              {`${tenant?.name ?? 'All tenants'} (${role})`}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}
