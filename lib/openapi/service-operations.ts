import type { OperationDocument } from './operation-document.ts'

/** The models, and the routes without a key. */
export const SERVICE_OPERATIONS = {
  'list-models': {
    tag: 'Models',
    summary: 'List the models',
    description: 'All models that the key may use, in the order of the configuration.',
    response: { description: 'The models.', schema: 'ModelList' },
  },
  'get-model': {
    tag: 'Models',
    summary: 'Fetch a model',
    description: 'A model that the key may not use is unknown.',
    parameters: [
      {
        name: 'model',
        in: 'path',
        description: 'Id of the model.',
        schema: { type: 'string' },
        example: 'chat-default',
      },
    ],
    response: { description: 'The model.', schema: 'Model' },
  },
  'get-openapi-document': {
    tag: 'Service',
    summary: 'This document',
    description: 'The document of the deployed version.',
    parameters: [
      {
        name: 'If-None-Match',
        in: 'header',
        description: 'The `ETag` of your copy.',
        schema: { type: 'string' },
      },
    ],
    response: { description: 'The document.', schema: 'OpenapiDocument', headers: ['ETag', 'Cache-Control', 'Vary'] },
  },
  'get-health': {
    tag: 'Service',
    summary: 'Whether the service is up',
    description:
      'Shows that the API and its functions run, and their version. It checks nothing behind them, so monitors may call it often.',
    response: { description: 'The service is up.', schema: 'Health', headers: ['Cache-Control'] },
  },
} as const satisfies Readonly<Record<string, OperationDocument>>
