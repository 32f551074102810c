import { MODEL_ENDPOINTS } from '../core/api/paths.ts'
import { defineRoute } from './define-route.ts'

const JOBS = MODEL_ENDPOINTS.videos.path

export const createVideoJob = /* @__PURE__ */ defineRoute({
  operation: 'create-video-job',
  method: 'POST',
  path: JOBS,
  input: 'CreateVideoJobRequest',
  takesIdempotencyKey: true,
  output: 'CreatedVideoJob',
  successStatus: 201,
  errors: [402, 409],
  needs: {
    table: [
      { actions: ['GetItem'], partitions: ['BAL#*', 'BUDGET#*', 'I#*', 'SWITCHES', 'T#*'] },
      {
        actions: ['PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
        partitions: ['BAL#*', 'BUDGET#*', 'I#*', 'K#*', 'L#*', 'T#*'],
      },
    ],
    transacts: true,
    // A large request is stored before the reservation, and deleted if the reservation is refused.
    // For the 201, the function reads a submit reply that was too large for the record of the job.
    objects: { 'requests/': ['PutObject', 'DeleteObject'], 'texts/': ['GetObject'] },
    startsExecutions: true,
    readsConfiguration: true,
  },
})

export const listVideoJobs = /* @__PURE__ */ defineRoute({
  operation: 'list-video-jobs',
  method: 'GET',
  path: JOBS,
  query: ['limit', 'offset', 'after', 'status', 'model', 'created_after', 'created_before'],
  output: 'VideoJobList',
  needs: {
    table: [{ actions: ['Query'], partitions: ['T#*'] }],
    objects: { 'texts/': ['GetObject'] },
    signsUrls: true,
  },
})

export const getVideoJob = /* @__PURE__ */ defineRoute({
  operation: 'get-video-job',
  method: 'GET',
  path: '/v1/video/generations/{job_id}',
  output: 'VideoJob',
  needs: {
    table: [{ actions: ['BatchGetItem', 'GetItem'], partitions: ['K#*', 'T#*'] }],
    objects: { 'texts/': ['GetObject'] },
    signsUrls: true,
  },
})

export const deleteVideoJob = /* @__PURE__ */ defineRoute({
  operation: 'delete-video-job',
  method: 'DELETE',
  path: '/v1/video/generations/{job_id}',
  output: 'VideoJobDeletion',
  needs: {
    table: [
      { actions: ['GetItem'], partitions: ['T#*'] },
      { actions: ['UpdateItem'], partitions: ['T#*'] },
    ],
    transacts: true,
    objects: { 'v/': ['DeleteObject'], 'texts/': ['DeleteObject'] },
    startsExecutions: true,
  },
})

export const getVideoReceipt = /* @__PURE__ */ defineRoute({
  operation: 'get-video-receipt',
  method: 'GET',
  path: '/v1/video/generations/{job_id}/receipt',
  output: 'VideoReceipt',
  function: 'account',
  needs: { table: [{ actions: ['BatchGetItem', 'GetItem'], partitions: ['L#*'] }] },
})

export const cancelVideoJob = /* @__PURE__ */ defineRoute({
  operation: 'cancel-video-job',
  method: 'POST',
  path: '/v1/video/generations/{job_id}/cancel',
  output: 'VideoJob',
  errors: [409],
  needs: {
    table: [
      { actions: ['GetItem'], partitions: ['T#*'] },
      { actions: ['UpdateItem'], partitions: ['T#*'] },
    ],
    objects: { 'texts/': ['GetObject'] },
    startsExecutions: true,
  },
})

export const resendVideoCallback = /* @__PURE__ */ defineRoute({
  operation: 'resend-video-callback',
  method: 'POST',
  path: '/v1/video/generations/{job_id}/callback',
  output: 'VideoCallback',
  errors: [409],
  needs: {
    table: [
      { actions: ['GetItem'], partitions: ['T#*', 'TENANTS'] },
      { actions: ['UpdateItem'], partitions: ['T#*'] },
    ],
    transacts: true,
    readsConfiguration: true,
    signsUrls: true,
  },
})

export const getVideoEvents = /* @__PURE__ */ defineRoute({
  operation: 'get-video-events',
  method: 'GET',
  path: '/v1/video/generations/{job_id}/events',
  output: 'VideoEventList',
  streams: true,
  isResumed: true,
  needs: {
    table: [{ actions: ['BatchGetItem', 'GetItem'], partitions: ['K#*', 'T#*'] }],
    // It reads one record a second, and now and then writes a comment.
    memoryMegabytes: 512,
  },
})

export const createVideoQuote = /* @__PURE__ */ defineRoute({
  operation: 'create-video-quote',
  method: 'POST',
  path: '/v1/video/quotes',
  input: 'CreateVideoJobRequest',
  output: 'VideoQuote',
  needs: {
    table: [
      { actions: ['BatchGetItem', 'GetItem'], partitions: ['BAL#*', 'BUDGET#*', 'K#*', 'KEYS'] },
      { actions: ['GetItem'], partitions: ['SWITCHES'] },
    ],
    readsConfiguration: true,
  },
})

/** The routes of video jobs, in the order of the OpenAPI document. */
export const VIDEO_ROUTES = [
  createVideoJob,
  listVideoJobs,
  getVideoJob,
  deleteVideoJob,
  getVideoReceipt,
  cancelVideoJob,
  resendVideoCallback,
  getVideoEvents,
  createVideoQuote,
] as const
