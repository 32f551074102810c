import { LOCAL_STATE_MACHINE_ARN, startAwsFront } from '#local/aws-front.ts'
import type { VideoMachine } from './run-video-machine.ts'

/**
 * The wire of Step Functions in front of the machine of the present test, named in the environment as a deployment names it.
 * `use` says which machine that is.
 */
export async function startExecutions() {
  let machine: VideoMachine | undefined
  let isDown = false
  const engine = () => {
    if (machine === undefined || isDown) {
      throw new Error('the service is down')
    }
    return machine.engine
  }
  const executions = {
    start: (name: string, input: string) => engine().start(name, input),
    find: (name: string) => engine().find(name),
    stop: (name: string) => engine().stop(name),
  }
  const front = await startAwsFront(executions, { accessKeyId: 'local', secretAccessKey: 'local' })
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_MAX_ATTEMPTS: '1',
    AWS_ENDPOINT_URL_SFN: `http://127.0.0.1:${front.port}`,
    STATE_MACHINE_ARN: LOCAL_STATE_MACHINE_ARN,
  })
  return {
    use: (current: VideoMachine) => {
      machine = current
      isDown = false
    },
    breakDown: () => {
      isDown = true
    },
    close: () => front.close(),
  }
}
