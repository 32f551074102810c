import { type Session, signOut } from '../api/session.ts'
import { describeFailure } from '../components/action-dialog.tsx'
import { Icon } from '../components/icon.tsx'
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
          <strong title={session.actor}>{session.tenant?.name ?? session.actor}</strong>
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
