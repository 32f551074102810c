/**
 * What the process of a relay server gives to Node. On a large machine V8 lets the space for new objects grow to a hundred megabytes
 * before it collects; with this bound a thousand open streams stay below 200 MB.
 */
export const RELAY_SERVER_NODE_OPTIONS = '--max-semi-space-size=8'
