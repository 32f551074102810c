/** The name of the product with its mark. */
export function Mark() {
  return (
    <span class="mark">
      <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true" focusable="false">
        <rect width="32" height="32" rx="8" />
        <path d="M9 8v16M23 8v16M9 16h14" />
      </svg>
      Reelgate
    </span>
  )
}
