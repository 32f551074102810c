import { defineRoute } from './define-route.ts'

export const getUsage = /* @__PURE__ */ defineRoute({
  operation: 'get-usage',
  method: 'GET',
  path: '/v1/usage',
  query: ['from', 'to', 'group_by', 'model', 'key', 'operation', 'limit', 'after'],
  output: 'Usage',
  function: 'account',
  needs: {
    table: [
      { actions: ['Query'], partitions: ['U#*'] },
      { actions: ['BatchGetItem', 'GetItem'], partitions: ['KEYS'] },
      // Whether the tenant counts users.
      { actions: ['GetItem'], partitions: ['BAL#*'] },
    ],
  },
})

export const getBalance = /* @__PURE__ */ defineRoute({
  operation: 'get-balance',
  method: 'GET',
  path: '/v1/balance',
  output: 'Balance',
  function: 'account',
  // One request reads the record of the key, its listing with its name, and the balance.
  needs: { table: [{ actions: ['BatchGetItem', 'GetItem'], partitions: ['BAL#*', 'BUDGET#*', 'K#*', 'KEYS'] }] },
})

/** What a key has spent, and what is left, in the order of the OpenAPI document. */
export const ACCOUNT_ROUTES = [getUsage, getBalance] as const
