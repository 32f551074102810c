import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'

export const API_CERTIFICATE = 'arn:aws:acm:eu-central-1:111111111111:certificate/0198b3a0-0000-7000-8000-000000000000'
export const CDN_CERTIFICATE = API_CERTIFICATE.replace('eu-central-1', 'us-east-1')

const folder = mkdtempSync(join(tmpdir(), 'every-setting-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Public keys of the team's own, for a rotation with overlap. */
export const PUBLIC_KEY_PEMS = ['next', 'now'].map(() =>
  generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' }).toString(),
)

const keyFiles = PUBLIC_KEY_PEMS.map((pem, index) => {
  const file = join(folder, `${index}.pem`)
  writeFileSync(file, pem)
  return file
})

/** Production with everything that can be turned on or changed. */
export const EVERY_SETTING = {
  profile: 'prod',
  deletionProtection: 'true',
  apiDomain: 'api.example.com',
  apiCertificateArn: API_CERTIFICATE,
  videoDomain: 'video.example.com',
  videoCertificateArn: CDN_CERTIFICATE,
  cdnPublicKey: keyFiles.join(','),
  cdn: 'on',
  console: 'on',
  frontDoorWebAclArn: 'arn:aws:wafv2:us-east-1:111111111111:global/webacl/viewers/0198b3a0-0000-7000-8000-000000000001',
  frontDoorSecretVersion: '0198b3a0-0000-7000-8000-000000000002',
  relay: 'web',
  throttleRate: '1000',
  waf: 'on',
  wafRatePerFiveMinutes: '2000',
  logRetentionDays: '90',
  alarmEmail: 'oncall@example.com',
  pipelineReservedConcurrency: '60',
} as const
