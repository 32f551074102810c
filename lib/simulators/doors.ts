import { isRefusal, type ReceivedRequest, type SignedFor, type SimulatedAccount } from './aws-account.ts'
import type { IdentitySimulator, TokenClient } from './identity.ts'
import type { CallerRefusal } from './openai.ts'
import { bearerOf } from './server.ts'

type Door = (request: ReceivedRequest) => CallerRefusal | undefined

/** Admits whom Bedrock admits: requests of a role of the account, signed for this service and region. */
export function bedrockDoor(account: SimulatedAccount, signedFor: Omit<SignedFor, 'action'>): Door {
  const action = signedFor.service === 'bedrock' ? 'bedrock:InvokeModel' : 'bedrock-mantle:CreateInference'
  return (request) => {
    const caller = account.callerOf(request, { ...signedFor, action })
    if (!isRefusal(caller)) {
      return undefined
    }
    const { status, code, message } = caller
    return { status, headers: { 'x-amzn-errortype': code }, body: { message } }
  }
}

/** Admits tokens that the provider has issued, and repeats others, as a careless proxy would. */
export function providerDoor(identity: IdentitySimulator, provider: TokenClient['provider']): Door {
  return ({ headers }) => {
    const bearer = bearerOf(headers)
    const betas = String(headers['anthropic-beta'] ?? '').split(',')
    const isComplete = provider === 'openai' || betas.includes('oauth-2025-04-20')
    if (isComplete && identity.isToken(provider, bearer)) {
      return undefined
    }
    const message = `invalid bearer token ${bearer ?? ''}`
    return {
      status: 401,
      body:
        provider === 'openai'
          ? { error: { message, type: 'invalid_request_error', param: null, code: 'invalid_api_key' } }
          : { type: 'error', error: { type: 'authentication_error', message } },
    }
  }
}
