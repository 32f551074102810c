import { COUNTED_FACTS, type CountedFact, MEASURES, type Measure, metricOfFact, unitOf } from '#core/measures.ts'

/** What docs/operate.md says of a metric, in Markdown. */
type MetricDefinition = {
  /** What the log line of the metric names besides. */
  readonly by?: 'channel' | 'model' | 'model, channel' | 'reason' | 'model, reason'
  readonly meaning: string
}

/** The counted facts: what each means, and what to do about it. */
const FACT_DEFINITIONS: Readonly<Record<CountedFact, MetricDefinition & { readonly todo?: string }>> = {
  channel_refused: {
    by: 'channel',
    meaning:
      'the upstream refused the channel (key, balance, model), or its key could not be read; once per job or request',
    todo: 'see `reason` in the log; fix the account, the secret or `models`',
  },
  internal_failure: {
    meaning: 'a job failed with an unexpected error and was released',
    todo: "read the job's log lines; report it",
  },
  upstream_orphan: {
    by: 'channel',
    meaning: 'the outcome of a submit is unknown, or a task was accepted for a job that had ended',
    todo: "look in the upstream's console for a task without a job; many at once: the upstream or the network is failing",
  },
  late_upstream_task: {
    by: 'channel',
    meaning: 'a job reached its deadline',
    todo: 'a few: nothing. Many: the upstream is slow, or `deadline_minutes` is too short',
  },
  unknown_upstream_status: {
    by: 'channel',
    meaning: 'a poll returned an unknown status',
    todo: 'add the status, which the log line contains, to the provider in `lambdas/core/providers/`; until then such jobs run until their deadline',
  },
  overdraft: {
    by: 'model',
    meaning: 'a bill exceeded its estimate',
    todo: 'compare `usage` with the estimate; raise `input_video_seconds_max` or `image_tokens`, or correct the bound',
  },
  billed_at_estimate: {
    by: 'model',
    meaning: 'the upstream reported no plausible usage, or the stream ended before its usage',
    todo: 'a few: nothing. All of a model: the upstream reports usage elsewhere now, or never in streams',
  },
  usage_refused: {
    by: 'model',
    meaning:
      'the usage of a video was not a valid number, and the estimate was billed; or a chat reported more cached tokens than its prompt has, and they were cut to the prompt',
    todo: 'see the number in the log line `the upstream reported a usage ...`',
  },
  usage_above_bound: {
    by: 'channel',
    meaning: 'a usage exceeded what its model can use; the bound was billed',
    todo: "see model and numbers in the log line `the upstream reported a usage above ...`. If the upstream is right, raise the bounds in the model's row",
  },
  breaker_opened: {
    by: 'channel',
    meaning: 'an instance pauses a relay channel, for one tenant or for all, after failures in a row or failed trials',
    todo: "see the channel's errors by class: `channel list`; the console's overview names the channel",
  },
  reply_cut_short: {
    by: 'channel',
    meaning: 'a success was too long, or incomplete after `answer_seconds`; its client got an incomplete response',
    todo: 'see the log line `reply cut short`; ask the upstream what it sends',
  },
  result_refused: {
    by: 'channel',
    meaning:
      'an upstream reported success, but its result is not a video, too large, or at an address that the guard refuses; the job failed, unbilled',
    todo: 'see the reason in the log line `result refused`; the upstream may bill it',
  },
  reservation_expired: {
    meaning: 'Reconcile, or the process of the request, released a relayed request that was never settled',
    todo: 'a few: nothing, functions crashed or could not reach the table. Many: look for `reservation not resolved`',
  },
  resolution_conflict: {
    meaning: 'a second, different resolution was refused',
    todo: 'run `ledger verify`; read the log lines of the job or request. The ledger is right, but something ran twice',
  },
  callback_delivered: { meaning: 'the receiver returned 2xx' },
  reference_refused: {
    by: 'model, reason',
    meaning:
      'a reference broke a limit of its model (`format`, `size`, `pixels`, `aspect_ratio`, `length`, `frame_rate`); the job failed, unbilled',
    todo: "nothing; the client gets the reason. All of a model: compare `reference_limits` with the upstream's",
  },
  reference_unread: {
    by: 'model',
    meaning:
      'a reference could not be read and was left to the upstream; the log line `reference not read` has the reason',
    todo: 'a few: nothing. All: the functions have no route to the internet, or turn `reference_checks` off',
  },
  sign_in_refused: {
    meaning:
      'a sign-in to the console failed, or came after ten failures of its address within a minute, or a program sent a wrong admin key',
    todo: '`audit --target sign-in` shows the addresses, and the line `admin key refused` those of programs; see the [runbook](runbook.md#signinsrefused)',
  },
  console_failed: {
    meaning: 'a request of the console ended with an internal error',
    todo: 'see the log line `request failed` of the function',
  },
  callback_failed: {
    by: 'reason',
    meaning:
      '`status`: not a 2xx; `no_response`: no connection, no response in time, or a url that is no longer allowed. Not retried',
    todo: 'see the reason in the log line `callback sent`',
  },
  execution_restarted: {
    by: 'reason',
    meaning: 'Reconcile started an execution: `missing`, `broken` or `ended`',
    todo: '`missing`: StartExecution failed. `broken`, `ended`: look at the old execution',
  },
  channel_recounted: {
    by: 'channel',
    meaning: 'an open-job count was wrong and was corrected',
    todo: 'after a restore or a manual edit: nothing. Otherwise report it',
  },
  reconcile_failed: {
    meaning: 'Reconcile failed on one reservation or deletion; the next run retries it',
    todo: 'see the log line `reconcile failed`',
  },
  alert_raised: {
    by: 'reason',
    meaning: 'Reconcile found a budget above a threshold (`budget.threshold`) or a low balance (`balance.low`)',
    todo: '`alert list` shows which',
  },
  alert_undelivered: {
    by: 'reason',
    meaning: "an alert did not reach the topic or the tenant's url in three tries",
    todo: 'see the reason in the log lines `alert failed` and `alert not published`',
  },
  summary_not_written: {
    meaning: 'Reconcile could not write the summary of all tenants that the console shows',
    todo: 'see the log line `summary not written` for the error or the reason',
  },
  store_failed: {
    by: 'channel',
    meaning: 'one attempt to fetch and store a finished video failed',
    todo: 'see the reason in the log line `store failed`',
  },
}

/** The measures. `unit` is given where the name does not say it. */
const MEASURE_DEFINITIONS: Readonly<Record<Measure, MetricDefinition & { readonly unit?: 'credits' | 'class' }>> = {
  jobs_created: { by: 'model', meaning: 'a `POST` created a job and reserved its credits' },
  jobs_submitted: { by: 'model, channel', meaning: 'an upstream accepted the job' },
  jobs_succeeded: { by: 'model, channel', meaning: 'a job ended with its video' },
  jobs_failed: { by: 'model, channel', meaning: 'a job failed; channel `none`: before any accepted it' },
  queue_seconds: { by: 'model, channel', meaning: 'from creation to the accepted submit' },
  first_poll_seconds: { by: 'model, channel', meaning: 'from the submit to the first poll with a reply' },
  generation_seconds: {
    by: 'model, channel',
    meaning: 'as the upstream reports it, else up to the middle of the last wait',
  },
  detection_lag_seconds: {
    by: 'model, channel',
    meaning:
      "from the upstream's end to the poll that found it; if the upstream reports no end, the wait before that poll, as an upper bound",
  },
  store_seconds: { by: 'channel', meaning: 'of each stored video' },
  stored_bytes: { by: 'channel', meaning: 'of each stored video' },
  store_bytes_per_second: { by: 'channel', meaning: 'of each stored video' },
  job_seconds: { by: 'model, channel', meaning: 'from creation to success' },
  relay_succeeded: { by: 'model, channel', meaning: 'a relayed request with a model ended with 2xx' },
  relay_rejected: { by: 'model, channel', meaning: 'the same with 4xx, from the gateway or relayed' },
  relay_failed: {
    by: 'model, channel',
    meaning: 'the same with 5xx, of the gateway or of an upstream, or as a broken stream',
  },
  first_byte_milliseconds: { by: 'model, channel', meaning: 'of a 2xx response, from the invocation to its head' },
  input_tokens: { by: 'model, channel', meaning: 'as the upstream reports them; also of token-billed videos' },
  output_tokens: { by: 'model, channel', meaning: 'as the upstream reports them; also of token-billed videos' },
  billed_credits: { unit: 'credits', by: 'model, channel', meaning: 'for graphs; the ledger is exact' },
  upstream_milliseconds: {
    meaning:
      'a metric of each channel: of one call of an upstream, from its begin to the head of the reply, or to its failure; of a video upstream, to the end of the reply. Its sample count is the number of calls',
  },
  upstream_error: {
    unit: 'class',
    by: 'reason',
    meaning:
      'one call of an upstream failed; a metric of each channel. Its value is the number of the class: 1 `connect_error`, 2 `timeout`, 3 `broken_reply`, 4 `odd_body` (a success in an unknown format), 5 `rate_limited` (429), 6 `http_4xx` (another 4xx; also a refusal of a bad request or of a cancel), 7 `http_5xx`. Its sample count is the number of errors, and `TC(1.5:2.5)` that of class 2',
  },
  upstream_connect_error: { by: 'channel', meaning: 'calls of upstreams without a connection, over all channels' },
  open_jobs: { meaning: 'open reservations of video jobs, measured every ten minutes' },
  open_requests: { meaning: 'open reservations of relayed requests, measured every ten minutes' },
  oldest_open_job_seconds: {
    meaning: 'age of the oldest open job that Reconcile visited; use the maximum of 15 minutes',
  },
  oldest_open_request_seconds: { meaning: 'the same of the oldest open relayed request' },
}

type Row = readonly [name: string, ...cells: readonly string[]]

/** A row for each counted fact: name, what its line names besides, meaning, what to do. */
export const FACT_ROWS: readonly Row[] = COUNTED_FACTS.map((fact) => {
  const { by = '', meaning, todo = '' } = FACT_DEFINITIONS[fact]
  const metric = metricOfFact(fact)
  return [fact, by, metric === fact ? meaning : `*${metric}*: ${meaning}`, todo]
})

/** A row for each measure: name, unit, what its line names besides, meaning. */
export const MEASURE_ROWS: readonly Row[] = MEASURES.map((name) => {
  const { by = '', meaning, unit = unitOf(name).toLowerCase() } = MEASURE_DEFINITIONS[name]
  return [name, unit, by, meaning]
})
