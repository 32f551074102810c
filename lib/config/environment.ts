/** Environment variables as a process has them, or as a test makes them up; unset ones are undefined. */
export type Environment = Readonly<Record<string, string | undefined>>
