/** The operations that a row of an endpoint table covers, and the text of the row that applies to each. */
import type { Row, Section } from './markdown.ts';
import { placeholders } from './readings.ts';

export interface Endpoint {
  readonly method: string;
  /** The path as written in the document. */
  readonly path: string;
  readonly request: readonly string[];
  readonly response: readonly string[];
  readonly header: string;
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const writing = ['POST', 'PUT', 'PATCH'];

export function endpoints(row: Row): Endpoint[] {
  // OpenAPI does not describe WebSockets, so `WS` is not one of the operations.
  const verbs = (row['Method'] ?? '').split(/\s*[,/]\s*/).filter((verb) => methods.includes(verb));
  const { request, response } = clauses(row);
  return paths(row['Path'] ?? '').flatMap((path) =>
    verbs.map((method) => ({
      method,
      path,
      header: row['Header'] ?? '',
      request: request.flatMap((clause) => ownRequest(clause, method, verbs)),
      response: ownResponse(response, method, verbs),
    })),
  );
}

/** Returns the endpoints of a service without a table: `POST /push` in backticks, followed by a remark. */
export function mentioned({ text }: Section): Endpoint[] {
  const found = [...text.matchAll(/`(GET|POST) (\/\w+)`(?: \(([^)]*)\))?/g)];
  return found.map(([, method = '', path = '', remark = '']) => ({
    method,
    path,
    header: '',
    request: [/body ([\w ]+)/.exec(remark)?.[1] ?? `${path.slice(1)} request`],
    response: [/returns an? ([\w ]+)/.exec(remark)?.[1] ?? `${path.slice(1)} request result`],
  }));
}

/**
 * Returns the paths in a cell: `/instances/{id}/start`, `/stop` are siblings; `/skills`, `/traits` and `/a/enable`,
 * `/a/disable` are whole paths.
 */
function paths(cell: string): string[] {
  const written = [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
  const [first = ''] = written;
  const folder = first.slice(0, first.lastIndexOf('/'));
  const whole = written.map((path) => (path.lastIndexOf('/') === 0 ? `${folder}${path}` : path));
  return whole.flatMap((path) => {
    const [name, values = []] = Object.entries(placeholders).find(([name]) => path.includes(name)) ?? [];
    return name === undefined ? [path] : values.map((value) => path.replace(name, value));
  });
}

function clauses(row: Row): { request: string[]; response: string[] } {
  const split = (cell: string | undefined) =>
    (cell ?? '').split(/; ?(?![^(]*\))|, (?=returns )/).filter(Boolean);
  const response = [
    row['Response'],
    row['Success'],
    row['Errors'] ?? row['Errors (status code)'],
    row['Behaviour'],
  ];
  const said = response.flatMap(split);
  const answers = (clause: string) => /^(returns |always |\d{3}\b)/.test(clause);
  const request = split(row['Request'] ?? row['Purpose']);
  // In prose about the purpose, only text after `body` or `query` names members.
  const marked = /^(body|query) |^[A-Z]/;
  return {
    request: request.filter((clause) => !answers(clause) && ('Request' in row || marked.test(clause))),
    response: [...said, ...request.filter(answers).map((clause) => clause.replace(/^(returns|always) /, ''))],
  };
}

/** A clause without a method applies to the writing methods, or to the query if there are none. */
function ownRequest(clause: string, method: string, verbs: readonly string[]): string[] {
  const [, verb, rest = ''] = /^(GET|PUT|PATCH|POST|DELETE)(?: partial)?:? ?(.*)$/.exec(clause) ?? [];
  if (verb !== undefined) return verb === method ? [rest] : [];
  const [, query] = /^(?:list )?(query .*)$/.exec(clause) ?? [];
  if (query !== undefined) return method === 'GET' ? [query] : [];
  if (/^`\w+` is /.test(clause)) return [];
  const body = clause.replace(/^(body|partial:) /, '');
  if (verbs.some((each) => writing.includes(each))) return writing.includes(method) ? [body] : [];
  return method === 'GET' ? [`query ${body}`] : [body];
}

/**
 * `200; DELETE 204`: a status belongs to the method before it. `201, 200` without methods: the statuses follow the order of the
 * methods.
 */
function ownResponse(clauses: readonly string[], method: string, verbs: readonly string[]): string[] {
  const labelled = clauses.map((clause) => /^([A-Z]+) (?=\d)(.*)$/.exec(clause));
  const own = labelled.flatMap((match) => (match?.[1] === method ? [match[2] ?? ''] : []));
  const common = clauses.filter((_, index) => !labelled[index]);
  const successes = common.filter((clause) => /^2\d\d/.test(clause));
  if (own.some((clause) => /^2/.test(clause))) return own;
  if (verbs.length === 2 && successes.length === 2) return [successes[verbs.indexOf(method)] ?? ''];
  return [...own, ...common];
}
