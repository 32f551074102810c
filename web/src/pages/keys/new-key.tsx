import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { Dialog } from '../../components/dialog.tsx'

/** Shows a new key, which nobody can show again. */
export function NewKey({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <Dialog title="The new key" onClose={onClose}>
      <div class="dialog-body">
        <p>Copy the key now. It is not shown again: only a hash is stored.</p>
        <div class="secret">
          <code>{secret}</code>
          <CopyButton value={secret} label="key" />
        </div>
      </div>
      <footer class="dialog-foot">
        <Button kind="primary" onClick={onClose}>
          I have copied it
        </Button>
      </footer>
    </Dialog>
  )
}
