/** The content of `documented.json`: the facts that the documents state, by service. */
import { readFileSync } from 'node:fs';

export interface DocumentedOperation {
  readonly method: string;
  /** Relative to the service's base URL: `/v1/roles/{roleId}`. `{+key}` also accepts slashes. */
  readonly path: string;
  readonly query: readonly string[];
  readonly headers: readonly string[];
  /** Members of the body. Members within another member, its items or its values are written `resources.cpu_millis`. */
  readonly request: readonly string[];
  /** The query parameters and body members that are always required. */
  readonly required: readonly string[];
  /** Members of the successful answer, or of its items. */
  readonly response: readonly string[];
  readonly success: readonly number[];
  readonly errors: readonly number[];
  /** The statuses that come with a code in the error envelope: `400 invalid_input`. */
  readonly codes: readonly string[];
}

export interface DocumentedService {
  /** Error statuses that the document gives for the service, not for a single operation. */
  readonly errors: readonly number[];
  readonly codes: readonly string[];
  /** Members of the error envelope. */
  readonly envelope: readonly string[];
  readonly operations: readonly DocumentedOperation[];
}

export const documented = JSON.parse(
  readFileSync(new URL('../documented.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, DocumentedService>>;
