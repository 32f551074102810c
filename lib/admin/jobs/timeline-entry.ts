/** Something that happened to a job. */
export type TimelineEntry = {
  /** Unix milliseconds; of what the record keeps in seconds, whole seconds. */
  readonly at: number
  readonly event: string
  /** The execution that it happened in, where Step Functions tells of it. */
  readonly execution?: string
}
