import { Component, type ComponentChildren } from 'preact'
import { Button } from '../components/button.tsx'

/** Shows a page that could not be loaded or drawn as a message; the navigation around it keeps working. */
export class PageBoundary extends Component<{ readonly children: ComponentChildren }, { readonly url: string | null }> {
  override state = { url: null }

  override componentDidCatch(error: unknown): void {
    console.error(error)
    this.setState({ url: location.pathname })
  }

  override render() {
    // Another page gets its own chance.
    if (this.state.url !== location.pathname) {
      return this.props.children
    }
    return (
      <div class="state state-bad" role="alert">
        <h1>This page could not be shown</h1>
        <p>The console may have been updated since it was opened.</p>
        <Button icon="reload" onClick={() => location.reload()}>
          Load again
        </Button>
      </div>
    )
  }
}
