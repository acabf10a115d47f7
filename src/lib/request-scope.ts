import { AsyncLocalStorage } from 'node:async_hooks';
import { outsideSpans } from './tracing/spans.ts';

/*
 * The request on whose behalf something is done, for records that outlive it. Handlers get the id in their context; this is for shared
 * machinery far below them, which no handler would tell.
 */
const requests = new AsyncLocalStorage<string | null>();

/** Runs a handler. Everything that it does, even later, is done on behalf of this request. */
export const inRequest = <T>(requestId: string, handle: () => T): T => requests.run(requestId, handle);

/** Runs work that serves many requests, or none, even when one of them started it. */
export const outsideRequests = <T>(work: () => T): T => requests.run(null, () => outsideSpans(work));

/** The id of the request on whose behalf the caller works; null in the background. */
export const currentRequestId = (): string | null => requests.getStore() ?? null;
