import { defineRoute } from './define-route.ts'

export const getOpenapiDocument = /* @__PURE__ */ defineRoute({
  operation: 'get-openapi-document',
  method: 'GET',
  path: '/openapi.json',
  auth: 'none',
  output: 'OpenapiDocument',
  errors: [500],
  isRevalidated: true,
  function: 'public',
  needs: { table: [], shipsOpenapi: 'openapi.json' },
})

export const getHealth = /* @__PURE__ */ defineRoute({
  operation: 'get-health',
  method: 'GET',
  path: '/health',
  auth: 'none',
  output: 'Health',
  function: 'public',
  needs: { table: [] },
})

/** The routes without a key, in the order of the OpenAPI document. */
export const SERVICE_ROUTES = [getOpenapiDocument, getHealth] as const
