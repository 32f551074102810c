import { useSession } from '../api/session.ts'
import { Dialog } from '../components/dialog.tsx'
import { pagesOf } from '../core/console-page.ts'
import { changeSettings, settings } from '../state/settings.ts'
import { useStore } from '../state/store.ts'

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'to the first filter'],
  ['j', 'next row'],
  ['k', 'previous row'],
  ['o or Enter', 'open the row'],
  ['Esc', 'close what is open'],
  ['?', 'this list'],
]

/** Every shortcut, and the switch that turns them off. */
export function HotkeyHelp({ onClose }: { readonly onClose: () => void }) {
  const { hasHotkeys } = useStore(settings)
  const pages = pagesOf(useSession().role)
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <div class="dialog-body">
        <div class="hotkeys">
          <dl>
            {KEYS.map(([key, meaning]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
          <dl>
            {pages.map(({ letter, title }) => (
              <div key={letter}>
                <dt>
                  <kbd>g</kbd> <kbd>{letter}</kbd>
                </dt>
                <dd>{title}</dd>
              </div>
            ))}
          </dl>
        </div>
        <label class="check">
          <input
            type="checkbox"
            checked={hasHotkeys}
            onChange={(event) => changeSettings({ hasHotkeys: event.currentTarget.checked })}
          />
          Use shortcuts of single letters
        </label>
      </div>
    </Dialog>
  )
}
