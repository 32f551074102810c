/**
 * Loaded into a host before its own code (`--import`): its clock is ahead by these milliseconds, as it is for a host that
 * is started that much later.
 */
const aheadMilliseconds = Number(process.env.CLOCK_AHEAD_MILLISECONDS ?? '0')
const now = Date.now
Date.now = () => now() + aheadMilliseconds
