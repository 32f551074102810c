/** How a measurement is run. */
export type MeasureOptions = {
  /** Smaller and rougher: for trying out, never for figures that are kept. */
  readonly quick: boolean
  /** Says what goes on, to a person who waits. */
  readonly progress: (line: string) => void
  /** What of the relay is measured. Default: everything. */
  readonly relay?: RelayOptions
}

/** Runs one measurement and gives its Markdown: a heading of the second level, and what it found in tables. */
export type Measure = (options: MeasureOptions) => Promise<string>

/** What of the relay is measured; everything by default. */
export type RelayOptions = {
  readonly cases?: readonly string[] | undefined
  readonly targets?: readonly string[] | undefined
  readonly rounds?: string | undefined
  /** Another checkout of the repository, whose gateway is measured beside this one. */
  readonly checkout?: string | undefined
}
