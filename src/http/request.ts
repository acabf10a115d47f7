import type { IncomingMessage } from 'node:http';
import { DomainError, Invalid, type ErrorKind } from '../lib/errors.ts';
import { bodyReader, isRaw } from './body.ts';
import type { Context } from './context.ts';
import { applyLeeway } from './leeway.ts';
import type { Operation, Validate, Validators } from './operation.ts';
import { scopeCheck } from './own-scope.ts';
import { problem } from './problems.ts';
import { queryReader, type Query } from './query.ts';
import { checkText } from './text.ts';

/** A validated request: path, query and header parameters by wire name, the body as `body`. */
export type Request = Record<string, unknown>;

/** What was on the wire, for the second judge of strict mode. */
export interface Wire {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: unknown;
}

export type ReadRequest = (
  req: IncomingMessage,
  params: Readonly<Record<string, string>>,
  caller: Pick<Context, 'tenant' | 'app' | 'operator'> | undefined,
  judge?: (wire: Wire) => Promise<void>,
) => Promise<Request>;

/**
 * Reads the requests of one operation: parameters are decoded, checked and coerced, the body is read and checked,
 * read-only members are dropped, defaults are filled in. Throws `Invalid`, naming the field, for the first thing wrong.
 */
export function requestReader(operation: Operation, validators: Validators): ReadRequest {
  const readQuery = queryReader(operation);
  const readHeaders = headerReader(operation, validators.header);
  const readBody = operation.body ? bodyReader(operation.body) : undefined;
  const raw = operation.body !== null && isRaw(operation.body);
  const leeway = operation.body?.leeway ?? undefined;
  const checkOwnScope = scopeCheck(operation);
  const read: ReadRequest = async (req, params, caller, judge) => {
    const request: Request = {};
    for (const name in params) {
      checkText(params[name]!, name);
      request[name] = params[name];
    }
    if (validators.path) validate(validators.path, request, 'path');
    const query = readQuery(queryOf(req));
    if (caller) checkOwnScope(caller, query);
    const asked = judge ? { ...query } : query;
    if (validators.query) validate(validators.query, query, 'query');
    Object.assign(request, query);
    if (readHeaders) Object.assign(request, readHeaders(req));
    const reading = readBody?.(req);
    const body = reading instanceof Promise ? await reading : reading;
    if (caller) checkOwnScope(caller, body);
    if (leeway) applyLeeway(leeway, body);
    if (raw) request['Content-Type'] = req.headers['content-type'];
    const sent = judge && validators.body ? structuredClone(body) : undefined;
    if (body !== undefined) {
      if (validators.body) validate(validators.body, body, 'body');
      request['body'] = body;
    }
    await judge?.({ params, query: asked, body: sent });
    return request;
  };
  return operation.responses.some(({ status }) => status === 400) ? read : tolerant(read);
}

/** An operation that documents no refusal takes what it cannot read for nothing. */
const tolerant =
  (read: ReadRequest): ReadRequest =>
  (...given) =>
    read(...given).catch((error: unknown) => {
      if (error instanceof DomainError && unreadable.has(error.kind)) return {};
      throw error;
    });

const unreadable: ReadonlySet<ErrorKind> = new Set(['invalid', 'unsupportedMediaType']);

function queryOf({ url = '' }: IncomingMessage): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}

function validate(validator: Validate, data: unknown, whole: string): void {
  if (!validator(data)) throw Invalid(problem(validator.errors ?? [], whole));
}

/** Header parameters are validated under their lower-case names and handed on under their wire names. */
function headerReader({ parameters }: Operation, validator: Validate | undefined) {
  const names = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
  if (names.length === 0 || !validator) return undefined;
  return (req: IncomingMessage): Request => {
    const found: Request = {};
    for (const name of names) {
      const value = req.headers[name.toLowerCase()];
      if (value !== undefined) found[name.toLowerCase()] = value;
    }
    if (!validator(found)) {
      const said = problem(validator.errors ?? [], 'headers');
      const named = names.find((name) => said.startsWith(`${name.toLowerCase()}:`)) ?? '';
      throw Invalid(named + said.slice(named.length));
    }
    return Object.fromEntries(names.map((name) => [name, found[name.toLowerCase()]]));
  };
}
