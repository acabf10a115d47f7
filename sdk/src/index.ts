/** The typed client of the Plinth platform services: `createPlinth` for all of them, `createClient` for one at a time. */
export type { Answer, EventStream, List, Raw, RecordedStream } from './runtime/answer.ts';
export { createClient, type Client } from './runtime/client.ts';
export { isPlinthError, PlinthError, type DocumentedError, type FailureKind } from './runtime/errors.ts';
export type { ClientOptions, EventOptions, RequestOptions } from './runtime/options.ts';
export type { RawBody } from './runtime/uploads.ts';
export {
  isWebhookError,
  verifyWebhook,
  WebhookError,
  type VerifiedWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  type WebhookProblem,
} from './runtime/webhooks.ts';
export * from './runtime/worker/index.ts';
export * from './services/index.ts';
export * from './sync/replica/index.ts';
