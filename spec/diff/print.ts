/** Prints breaks as text: what changed, and the request or answer that shows it. */
import { lengthOf } from './reasons.ts';
import type { Answer, Break, Request } from './break.ts';

export interface Named extends Break {
  readonly service: string;
}

/** Returns the name of a break in `intended.txt`. */
export const nameOf = ({ service, operation, place, change }: Named): string =>
  `${service} ${operation} ${place} ${change}`;

/** Prints the breaks grouped by cause, each group with the line that would allow it. */
export function printBreaks(breaks: readonly Named[]): string[] {
  const groups = Map.groupBy(breaks, ({ service, cause, place, change }) =>
    [service, cause, place, change].join('\n'),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const others = group.slice(1).map(({ operation }) => operation);
    const shown = others.slice(0, 5).join(', ') + (others.length > 5 ? ` and ${others.length - 5} more` : '');
    const name = others.length > 0 ? `${first.service} * ${first.place} ${first.change}` : nameOf(first);
    return [
      `${first.service} ${first.operation}: ${first.place} ${first.message}`,
      ...witnessOf(first).map((line) => `    ${line}`),
      ...(others.length > 0 ? [`    also: ${shown}`] : []),
      ...(first.certain ? [`    intended? ${name} | <reason>`] : []),
      '',
    ];
  });
}

function witnessOf({ service, request, outcome, answer }: Named): string[] {
  const sent = printRequest(service, request);
  if (outcome === '') return [sent];
  return [sent, answer ? `${outcome} ${printAnswer(answer)}` : outcome];
}

/** Prints a request: `POST /authz/v1/roles {"name":"Editor"}`. The path begins with the service's name, as in the all-in-one server. */
export function printRequest(
  service: string,
  { method, path, query, headers, contentType, body }: Request,
): string {
  const pairs = Object.entries(query).map(
    ([name, text]) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`,
  );
  const lines = Object.entries(headers).map(([name, text]) => `${name}: ${text}`);
  const type = contentType === undefined || contentType === 'application/json' ? [] : [contentType];
  const target = `/${service}${path}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`;
  const sent = body === undefined ? [] : [json(body)];
  return [method, shortened(target), ...lines.map((line) => `(${shortened(line)})`), ...type, ...sent].join(
    ' ',
  );
}

function printAnswer({ status, headers, contentType, body, event }: Answer): string {
  const lines = Object.entries(headers).map(([name, text]) => `(${name}: ${shortened(text)})`);
  const type = contentType === undefined || contentType === 'application/json' ? [] : [contentType];
  const name = event === undefined ? [] : [`event: ${event}`];
  return [status, ...lines, ...type, ...name, ...(body === undefined ? [] : [json(body)])].join(' ');
}

/** Formats JSON with long texts and lists abbreviated. */
function json(value: unknown): string {
  const short = JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'string') return shortened(part);
    if (Array.isArray(part) && part.length > 5)
      return [...(part as unknown[]).slice(0, 2), `… (${part.length} items)`];
    return part;
  });
  return short.length > 2_000 ? `${short.slice(0, 2_000)}…` : short;
}

const shortened = (text: string): string =>
  text.length > 160 ? `${text.slice(0, 40)}… (${lengthOf(text)} characters)` : text;
