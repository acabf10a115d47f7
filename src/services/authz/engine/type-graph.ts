import { Invalid } from '../../../lib/errors.ts';
import { parseExpression } from './expression.ts';
import type { Expression } from './expression.ts';
import type { ResourceTypeRule } from './types.ts';

const KIND = '[A-Za-z][A-Za-z0-9_.-]{0,63}';
const RELATION = '[A-Za-z_](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9_])?';
const RELATION_NAME = new RegExp(`^${RELATION}$`);
const SUBJECT_FORM = new RegExp(`^(${KIND})(?:(:\\*)|#(${RELATION}))?$`);

/** What a relation's `subjects` entry admits. */
export interface SubjectForm {
  readonly type: string;
  readonly wildcard: boolean;
  /** `''` for a plain subject. */
  readonly relation: string;
}

/** A relation or permission of a type, parsed. */
export interface TypeName {
  readonly expression: Expression;
  /** Forms a tuple's subject may have; null for a permission, which holds no tuples. */
  readonly subjects: readonly SubjectForm[] | null;
}

/**
 * Judges a resource type on write, with all other types of the tenant (an older version of the same type is ignored):
 * names, subject forms, expressions, and that no cycle runs through the right side of a `-`. Throws `Invalid`.
 */
export function checkResourceType(type: ResourceTypeRule, types: Iterable<ResourceTypeRule>): void {
  const names = parseType(type);
  const graph = new Map<string, ReadonlyMap<string, TypeName>>();
  for (const other of types) if (other.id !== type.id) graph.set(other.name, parseType(other));
  graph.set(type.name, names);
  const cycle = exclusionCycle(graph);
  if (cycle !== undefined) throw Invalid(`exclusion in a cycle: ${cycle.join(' -> ')}`);
}

/** The names of a type; throws `Invalid` naming the member that is wrong. */
export function parseType(type: Pick<ResourceTypeRule, 'relations' | 'permissions'>): Map<string, TypeName> {
  const names = new Map<string, TypeName>();
  type.relations.forEach((relation, index) => {
    const field = `relations[${index}]`;
    checkName(relation.name, `${field}.name`, names);
    const subjects = relation.subjects.map((text, at) => parseSubjectForm(text, `${field}.subjects[${at}]`));
    names.set(relation.name, {
      expression: parseExpression(relation.expression ?? 'this', `${field}.expression`),
      subjects,
    });
  });
  type.permissions.forEach((permission, index) => {
    const field = `permissions[${index}]`;
    checkName(permission.name, `${field}.name`, names);
    names.set(permission.name, {
      expression: parseExpression(permission.expression, `${field}.expression`),
      subjects: null,
    });
  });
  const fieldOf = (list: readonly { name: string }[], key: string, name: string) =>
    `${key}[${list.findIndex((entry) => entry.name === name)}].expression`;
  for (const [name, { expression, subjects }] of names) {
    const field =
      subjects === null
        ? fieldOf(type.permissions, 'permissions', name)
        : fieldOf(type.relations, 'relations', name);
    checkTerms(expression, subjects !== null, names, field);
  }
  return names;
}

function checkName(name: string, field: string, names: ReadonlyMap<string, TypeName>): void {
  if (!RELATION_NAME.test(name)) throw Invalid(`${field}: not a relation name`);
  if (name === 'this') throw Invalid(`${field}: "this" is reserved`);
  if (names.has(name)) throw Invalid(`${field}: "${name}" is used twice`);
}

function parseSubjectForm(text: string, field: string): SubjectForm {
  const match = SUBJECT_FORM.exec(text);
  if (match?.[1] === undefined) throw Invalid(`${field}: expected "type", "type:*" or "type#relation"`);
  return { type: match[1], wildcard: match[2] !== undefined, relation: match[3] ?? '' };
}

function checkTerms(
  expression: Expression,
  inRelation: boolean,
  names: ReadonlyMap<string, TypeName>,
  field: string,
): void {
  switch (expression.op) {
    case 'this':
      if (!inRelation) throw Invalid(`${field}: "this" is for relations`);
      return;
    case 'name':
      if (!names.has(expression.name)) {
        throw Invalid(`${field}: unknown name "${expression.name}" at ${expression.at + 1}`);
      }
      return;
    case 'arrow': {
      const left = names.get(expression.relation);
      const at = expression.at + 1;
      if (left === undefined) throw Invalid(`${field}: unknown name "${expression.relation}" at ${at}`);
      if (left.subjects === null)
        throw Invalid(`${field}: "${expression.relation}" is not a relation at ${at}`);
      return;
    }
    default:
      for (const term of expression.terms) checkTerms(term, inRelation, names, field);
  }
}

interface Edge {
  readonly to: string;
  readonly excluded: boolean;
}

/** The nodes of a cycle with an excluded edge, first and last the same, written `type#name`; undefined when none. */
function exclusionCycle(types: ReadonlyMap<string, ReadonlyMap<string, TypeName>>): string[] | undefined {
  const edges = new Map<string, Edge[]>();
  for (const [type, names] of types) {
    for (const [name, node] of names) edges.set(`${type}#${name}`, dependencies(type, node, names));
  }
  const components = stronglyConnected(edges);
  for (const [from, list] of edges) {
    for (const edge of list) {
      if (!edge.excluded || components.get(from) !== components.get(edge.to)) continue;
      const back = shortestPath(edges, edge.to, from);
      if (back !== undefined) return [from, ...back];
    }
  }
  return undefined;
}

/** Node → its strongly connected component (Kosaraju, without recursion: a tenant may have 64,000 names). */
function stronglyConnected(edges: ReadonlyMap<string, readonly Edge[]>): Map<string, number> {
  const reversed = new Map<string, string[]>([...edges.keys()].map((node) => [node, []]));
  for (const [from, list] of edges) for (const { to } of list) reversed.get(to)?.push(from);
  const finished: string[] = [];
  const seen = new Set<string>();
  for (const start of edges.keys()) {
    if (seen.has(start)) continue;
    seen.add(start);
    const stack = [{ node: start, at: 0 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const to = edges.get(top.node)?.[top.at++]?.to;
      if (to === undefined) finished.push(stack.pop()?.node ?? start);
      else if (edges.has(to) && !seen.has(to)) {
        seen.add(to);
        stack.push({ node: to, at: 0 });
      }
    }
  }
  const components = new Map<string, number>();
  for (const [component, start] of finished.reverse().entries()) {
    const stack = components.has(start) ? [] : [start];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (components.has(node)) continue;
      components.set(node, component);
      stack.push(...(reversed.get(node) ?? []));
    }
  }
  return components;
}

/** Names outside defined types have no edges: what hangs on them is judged when it is met. */
function dependencies(type: string, node: TypeName, names: ReadonlyMap<string, TypeName>): Edge[] {
  const edges: Edge[] = [];
  const walk = (expression: Expression, excluded: boolean): void => {
    switch (expression.op) {
      case 'this':
        for (const form of node.subjects ?? []) {
          if (form.relation !== '') edges.push({ to: `${form.type}#${form.relation}`, excluded });
        }
        return;
      case 'name':
        edges.push({ to: `${type}#${expression.name}`, excluded });
        return;
      case 'arrow':
        for (const form of names.get(expression.relation)?.subjects ?? []) {
          if (form.relation === '' && !form.wildcard)
            edges.push({ to: `${form.type}#${expression.name}`, excluded });
        }
        return;
      default:
        expression.terms.forEach((term, index) =>
          walk(term, excluded || (expression.op === 'exclusion' && index > 0)),
        );
    }
  };
  walk(node.expression, false);
  return edges;
}

function shortestPath(
  edges: ReadonlyMap<string, readonly Edge[]>,
  from: string,
  to: string,
): string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[from, undefined]]);
  for (const node of cameFrom.keys()) {
    if (node === to) {
      const path: string[] = [];
      for (let step: string | undefined = to; step !== undefined; step = cameFrom.get(step))
        path.unshift(step);
      return path;
    }
    for (const edge of edges.get(node) ?? []) if (!cameFrom.has(edge.to)) cameFrom.set(edge.to, node);
  }
  return undefined;
}
