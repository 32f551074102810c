/** Eighths of a character cell, from one to seven. */
const PARTS = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const
const WHOLE = '█'
const PARTS_PER_CELL = PARTS.length + 1

/**
 * A horizontal bar of block characters. A share above zero has at least one eighth of a cell.
 * @param share from 0 to 1.
 * @param width of a share of 1, in character cells.
 */
export function bar(share: number, width: number): string {
  const eighths = share > 0 ? Math.max(1, Math.round(share * width * PARTS_PER_CELL)) : 0
  return WHOLE.repeat(Math.floor(eighths / PARTS_PER_CELL)) + (PARTS[(eighths % PARTS_PER_CELL) - 1] ?? '')
}
