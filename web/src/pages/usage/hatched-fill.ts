/** Side of the repeated square in pixels of the canvas. */
const SIDE = 8

/** Lines across the square for each kind of hatching; the first kind is plain. */
const LINES: readonly (readonly [number, number, number, number])[][] = [
  [],
  [[0, SIDE, SIDE, 0]],
  [[0, SIDE / 2, SIDE, SIDE / 2]],
  [[SIDE / 2, 0, SIDE / 2, SIDE]],
  [[0, 0, SIDE, SIDE]],
  [
    [0, SIDE, SIDE, 0],
    [0, 0, SIDE, SIDE],
  ],
  [
    [0, SIDE / 2, SIDE, SIDE / 2],
    [SIDE / 2, 0, SIDE / 2, SIDE],
  ],
  [],
]

/** A colour with the hatching of a series, so that series are not told apart by colour alone. */
export function hatchedFill(color: string, series: number): CanvasPattern | string {
  const lines = LINES[series % LINES.length] ?? []
  const canvas = document.createElement('canvas')
  canvas.width = SIDE
  canvas.height = SIDE
  const context = canvas.getContext('2d')
  if (context === null || lines.length === 0) {
    return color
  }
  context.fillStyle = color
  context.fillRect(0, 0, SIDE, SIDE)
  context.strokeStyle = 'rgb(255 255 255 / 45%)'
  context.lineWidth = 1.5
  for (const [fromX, fromY, toX, toY] of lines) {
    context.beginPath()
    context.moveTo(fromX, fromY)
    context.lineTo(toX, toY)
    context.stroke()
  }
  return context.createPattern(canvas, 'repeat') ?? color
}
