import type { components } from './gateway-api.d.ts'

type Schemas = components['schemas']

/** A model as `GET /v1/models` describes it. */
export type GatewayModel = Schemas['Model']

/** The models of a key. */
export type GatewayModels = Schemas['ModelList']

/** What a video would cost at most. */
export type VideoQuote = Schemas['VideoQuote']

/** A video job that has just been created. */
export type CreatedVideoJob = Schemas['CreatedVideoJob']

/** A video job. */
export type VideoJob = Schemas['VideoJob']

/** An event of a video job. */
export type VideoEvent = Schemas['VideoEvent']
