/**
 * A schema as one side of the exchange sees it. The writer sends no member that only the other side sets. The reader ignores
 * such members, and a client ignores unknown members of an answer.
 */
import { annotations, isNothing, nothing, type Schema } from './document.ts';
import { literal, named } from './meaning.ts';

export type View = <Node>(node: Node) => Node;

/** What clients send: nothing that is read-only. */
export const sentBy: View = (node) => hidden(node, 'readOnly', nothing);

/** What the server accepts: read-only members are ignored. */
export const takenFrom: View = (node) => hidden(node, 'readOnly', {});

/** What the server answers: nothing that is write-only. */
export const answeredBy: View = (node) => hidden(node, 'writeOnly', nothing);

/** What a client reads: unknown members are ignored, and forms may overlap once their seals are removed. */
export const readFrom: View = (node) => opened(hidden(node, 'writeOnly', {}));

/** Makes the members with this mark optional, and replaces their schemas. */
const hidden = <Node>(node: Node, mark: string, instead: Schema): Node =>
  changed(node, (schema) => {
    const { properties = {}, required } = schema;
    const marked = Object.keys(properties).filter((name) => properties[name]?.[mark] === true);
    if (marked.length === 0) return schema;
    const members = marked.map((name) => [name, { ...instead, [mark]: true }]);
    return {
      ...schema,
      properties: { ...properties, ...(Object.fromEntries(members) as Schema['properties']) },
      ...(required && { required: required.filter((name) => !marked.includes(name)) }),
    };
  });

/** Keywords under which schemas stay unchanged: accepting more there would accept less in total. */
const denied: ReadonlySet<string> = new Set(['not', 'if', 'contains']);

const opened = <Node>(node: Node): Node =>
  changed(
    node,
    ({ oneOf, unevaluatedProperties: open, additionalProperties: free, ...schema }) => ({
      ...schema,
      ...(open && !isNothing(open) && { unevaluatedProperties: open }),
      ...(free && !isNothing(free) && { additionalProperties: free }),
      ...(oneOf &&
        (schema.anyOf ? { allOf: [...(schema.allOf ?? []), { anyOf: oneOf }] } : { anyOf: oneOf })),
    }),
    denied,
  );

type Change = (schema: Schema) => Schema;

/** Applies a change to each schema within a schema, inner ones first. Schemas under the keywords in `kept` stay unchanged. */
function changed<Node>(node: Node, change: Change, kept: ReadonlySet<string> = new Set()): Node {
  if (Array.isArray(node)) return node.map((part: unknown) => changed(part, change, kept)) as Node;
  if (typeof node !== 'object' || node === null) return node;
  const ofNames = (map: object) =>
    Object.fromEntries(
      Object.entries(map).map(([name, part]) => [name, changed(part as unknown, change, kept)]),
    );
  const made = Object.entries(node).map(([keyword, part]): [string, unknown] => {
    if (literal.has(keyword) || annotations.has(keyword) || kept.has(keyword)) return [keyword, part];
    return [keyword, named.has(keyword) ? ofNames(part as object) : changed(part as unknown, change, kept)];
  });
  return change(Object.fromEntries(made)) as Node;
}
