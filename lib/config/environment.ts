/** Environment variables of a process or a test; unset ones are undefined. */
export type Environment = Readonly<Record<string, string | undefined>>
