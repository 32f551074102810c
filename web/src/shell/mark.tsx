/** The name of the product with its mark. */
export function Mark() {
  return (
    <span class="mark">
      <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true" focusable="false">
        <rect width="32" height="32" rx="8" />
        <path d="M22.6 10.1a8.8 8.8 0 1 0 2.1 4.3" />
        <polygon points="13.5,11.8 20.5,16 13.5,20.2" />
      </svg>
      Reelgate
    </span>
  )
}
