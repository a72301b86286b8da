import { S3Client } from '@aws-sdk/client-s3'
import { type AwsTarget, clientSettings } from './clients.ts'

/**
 * A client for S3, or for the emulator at an endpoint. An emulator knows neither bucket host names nor the checksum
 * trailers that newer SDKs add, so those two defaults are only kept on AWS.
 */
export function createS3(target: AwsTarget): S3Client {
  return new S3Client({ ...clientSettings(target), ...(target.endpointUrl ? emulated : {}) })
}

const emulated = {
  forcePathStyle: true,
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
} as const
