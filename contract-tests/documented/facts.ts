/** What `documented.json` holds: the facts that the documents state, service by service. */
import { readFileSync } from 'node:fs';

export interface DocumentedOperation {
  readonly method: string;
  /** Relative to the service's base URL: `/v1/roles/{roleId}`; `{+key}` takes slashes too. */
  readonly path: string;
  readonly query: readonly string[];
  readonly headers: readonly string[];
  /** Members of the body; those inside another member, or inside its items or values, as `resources.cpu_millis`. */
  readonly request: readonly string[];
  /** The query parameters and members of the body that are always required. */
  readonly required: readonly string[];
  /** Members of the successful answer, or of its items. */
  readonly response: readonly string[];
  readonly success: readonly number[];
  readonly errors: readonly number[];
  /** The statuses that come with a code in the error envelope: `400 invalid_input`. */
  readonly codes: readonly string[];
}

export interface DocumentedService {
  /** Statuses of errors that the document gives for the service, not for one operation. */
  readonly errors: readonly number[];
  readonly codes: readonly string[];
  /** Members of the error envelope. */
  readonly envelope: readonly string[];
  readonly operations: readonly DocumentedOperation[];
}

export const documented = JSON.parse(
  readFileSync(new URL('../documented.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, DocumentedService>>;
