import { defineRoute, type RouteNeeds } from './define-route.ts'

/** The catalogue and its switches. */
const CATALOGUE = {
  table: [{ actions: ['GetItem'], partitions: ['SWITCHES'] }],
  readsConfiguration: true,
} as const satisfies RouteNeeds

export const listModels = /* @__PURE__ */ defineRoute({
  operation: 'list-models',
  method: 'GET',
  path: '/v1/models',
  output: 'ModelList',
  function: 'catalogue',
  needs: CATALOGUE,
})

export const getModel = /* @__PURE__ */ defineRoute({
  operation: 'get-model',
  method: 'GET',
  path: '/v1/models/{model}',
  output: 'Model',
  function: 'catalogue',
  needs: CATALOGUE,
})

/** The routes of models, in the order of the OpenAPI document. */
export const MODEL_ROUTES = [listModels, getModel] as const
