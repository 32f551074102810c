/**
 * Stands in for `node:http` in the bundles of functions. Importing that module reads all of its exports, and reading
 * `WebSocket` loads the whole of Node's fetch client, which no function uses: a fifth of a function's load time.
 * This takes what is named; bundling fails when code names more.
 */
export const { Agent, request, STATUS_CODES } = process.getBuiltinModule('node:http')
