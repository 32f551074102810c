/** The largest weight of a channel: its share among channels of equal priority, above zero. */
export const CHANNEL_WEIGHT_MAX = 1_000

/** The largest priority of a channel, a whole number from zero. The lowest number is tried first. */
export const CHANNEL_PRIORITY_MAX = 1_000
