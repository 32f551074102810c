/**
 * Replaces `node:http` in bundles. An import of the original reads all of its exports, and `WebSocket` loads Node's fetch client,
 * which no function uses: a fifth of a function's load time. Bundling fails if code imports another name.
 */
export const { Agent, createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http')
