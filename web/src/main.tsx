import { QueryClientProvider } from '@tanstack/preact-query'
import { render } from 'preact'
import './styles/console.css'
import { queryClient } from './api/query-client.ts'
import { Console } from './shell/console.tsx'
import { signInByFragment } from './shell/sign-in-by-fragment.ts'
import { startClock } from './state/clock.ts'
import { watchReachability } from './state/reachability.ts'
import { applyTheme } from './state/settings.ts'

applyTheme()
startClock()
watchReachability(() => void queryClient.invalidateQueries())

// A link that is opened in a tab of the console changes the fragment alone.
addEventListener('hashchange', () => void signInByFragment())

const root = document.getElementById('console')
if (root !== null) {
  // A link of a terminal signs in before anything asks for a session.
  void signInByFragment().finally(() =>
    render(
      <QueryClientProvider client={queryClient}>
        <Console />
      </QueryClientProvider>,
      root,
    ),
  )
}
