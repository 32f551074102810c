import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useSession } from '../api/session.ts'
import { Icon } from '../components/icon.tsx'
import { AccountMenu } from './account-menu.tsx'
import { HotkeyHelp } from './hotkey-help.tsx'
import { Mark } from './mark.tsx'
import { Navigation } from './navigation.tsx'
import { SessionEnd } from './session-end.tsx'
import { useHotkeys } from './use-hotkeys.ts'

const NAVIGATION = 'navigation'

/** What surrounds every page: navigation, account, shortcuts. On a phone the navigation opens over the page. */
export function Frame({ children }: { readonly children: ComponentChildren }) {
  const [isHelpShown, showHelp] = useState(false)
  const session = useSession()
  useHotkeys(() => showHelp(true))
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="topbar">
        <button type="button" class="icon-button" popovertarget={NAVIGATION} aria-label="Open the navigation">
          <Icon name="menu" size={20} />
        </button>
        <Mark />
      </header>
      <aside id={NAVIGATION} class="sidebar" popover="auto">
        <a href="/console" class="sidebar-mark">
          <Mark />
        </a>
        <Navigation popoverId={NAVIGATION} />
        <AccountMenu session={session} onHelp={() => showHelp(true)} />
      </aside>
      <main id="content" class="content" tabIndex={-1}>
        <SessionEnd expiresAt={session.expires_at} />
        {children}
      </main>
      {isHelpShown ? <HotkeyHelp onClose={() => showHelp(false)} /> : null}
    </div>
  )
}
