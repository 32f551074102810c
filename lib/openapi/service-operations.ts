import type { OperationDocument } from './operation-document.ts'

/** The models, and the routes without a key. */
export const SERVICE_OPERATIONS = {
  'list-models': {
    tag: 'Models',
    summary: 'List the models',
    description: 'Those that the key may use, in the order of the configuration.',
    answer: { description: 'The models.', schema: 'ModelList' },
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
    answer: { description: 'The model.', schema: 'Model' },
  },
  'get-openapi-document': {
    tag: 'Service',
    summary: 'This document',
    description: 'As it is in the deployed version.',
    parameters: [
      {
        name: 'If-None-Match',
        in: 'header',
        description: 'The `ETag` of a version that you have.',
        schema: { type: 'string' },
      },
    ],
    answer: { description: 'The document.', schema: 'OpenapiDocument', headers: ['ETag', 'Cache-Control', 'Vary'] },
  },
  'get-health': {
    tag: 'Service',
    summary: 'Whether the service is up',
    description:
      'Tells that the API and its functions run, and which version of them. It looks at nothing behind them, so that anyone may ask as often as a monitor does.',
    answer: { description: 'It is up.', schema: 'Health', headers: ['Cache-Control'] },
  },
} as const satisfies Readonly<Record<string, OperationDocument>>
