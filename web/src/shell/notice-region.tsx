import { Icon } from '../components/icon.tsx'
import { dismiss, notices } from '../state/notices.ts'
import { useStore } from '../state/store.ts'

/** The one place where short messages appear; a screen reader speaks them when it has finished its sentence. */
export function NoticeRegion() {
  const shown = useStore(notices)
  return (
    <div class="notices" role="status" aria-live="polite">
      {shown.map(({ id, message, tone }) => (
        <div key={id} class={`notice notice-${tone}`}>
          <Icon name={tone === 'good' ? 'check' : 'alert'} />
          <span>{message}</span>
          <button type="button" class="icon-button" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <Icon name="close" size={14} />
          </button>
        </div>
      ))}
    </div>
  )
}
