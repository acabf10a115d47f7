import { Invalid } from '../../../lib/errors.ts';
import type { Expression } from './expression.ts';
import type { TypeName, TypeNames } from './type-graph.ts';

/** Edges between two pauses. */
const edgesPerPause = 2_000;

/** A term that a name depends on, and whether it is subtracted. */
interface Leaf {
  readonly term: Expression;
  readonly excluded: boolean;
}

interface Edge {
  readonly to: string;
  readonly excluded: boolean;
}

/**
 * Checks that no cycle of the tenant's names runs through the right side of a `-`: such a name would depend on its own
 * negation. The other types were checked when they were written, so the walk covers only what the new type leads to. Edges are
 * created as needed, because all of them together may be many millions.
 * @throws Invalid
 */
export function* judgeCycles(
  type: string,
  names: TypeNames,
  others: ReadonlyMap<string, TypeNames>,
): Generator<undefined, void, undefined> {
  const graph = new Graph(new Map([...others, [type, names]]));
  const components = yield* graph.components([...names.keys()].map((name) => `${type}#${name}`));
  for (const [from, component] of components) {
    for (const edge of graph.edges(from)) {
      if (graph.isPauseDue()) yield;
      if (!edge.excluded || components.get(edge.to) !== component) continue;
      const back = yield* graph.path(edge.to, from, components);
      throw Invalid(`exclusion in a cycle: ${[from, ...back].join(' -> ')}`);
    }
  }
}

class Graph {
  readonly #types: ReadonlyMap<string, TypeNames>;
  #count = 0;

  constructor(types: ReadonlyMap<string, TypeNames>) {
    this.#types = types;
  }

  isPauseDue(): boolean {
    return ++this.#count % edgesPerPause === 0;
  }

  /** Names of undefined types have no edges: whatever depends on them is checked during evaluation. */
  *edges(node: string): Generator<Edge, void, undefined> {
    const hash = node.indexOf('#');
    const type = node.slice(0, hash);
    const names = this.#types.get(type);
    const name = names?.get(node.slice(hash + 1));
    if (names === undefined || name === undefined) return;
    for (const { term, excluded } of leavesOf(name.expression)) {
      if (term.op === 'name') yield { to: `${type}#${term.name}`, excluded };
      else if (term.op === 'this') yield* membersOf(name, excluded);
      else if (term.op === 'arrow') {
        for (const form of names.get(term.relation)?.subjects ?? [])
          if (!form.wildcard) yield { to: `${form.type}#${term.name}`, excluded };
      }
    }
  }

  /** Maps every reachable node to its strongly connected component (Tarjan, without recursion). */
  *components(starts: readonly string[]): Generator<undefined, Map<string, number>, undefined> {
    const order = new Map<string, number>();
    const low = new Map<string, number>();
    const components = new Map<string, number>();
    const open: string[] = [];
    for (const start of starts) {
      if (order.has(start)) continue;
      const path: { node: string; edges: Iterator<Edge> }[] = [];
      const enter = (node: string) => {
        order.set(node, order.size);
        low.set(node, order.size - 1);
        open.push(node);
        path.push({ node, edges: this.edges(node) });
      };
      enter(start);
      for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
        if (this.isPauseDue()) yield;
        const { node, edges } = top;
        const step = edges.next();
        if (step.done !== true) {
          const { to } = step.value;
          if (!order.has(to)) enter(to);
          else if (!components.has(to)) low.set(node, Math.min(low.get(node)!, order.get(to)!));
          continue;
        }
        path.pop();
        const above = path.at(-1);
        if (above !== undefined) low.set(above.node, Math.min(low.get(above.node)!, low.get(node)!));
        if (low.get(node) !== order.get(node)) continue;
        for (let member = open.pop(); member !== undefined; member = open.pop()) {
          components.set(member, order.get(node)!);
          if (member === node) break;
        }
      }
    }
    return components;
  }

  /** Returns a shortest path within one component, both ends included. */
  *path(
    from: string,
    to: string,
    components: ReadonlyMap<string, number>,
  ): Generator<undefined, string[], undefined> {
    const cameFrom = new Map<string, string | undefined>([[from, undefined]]);
    for (const node of cameFrom.keys()) {
      if (node === to) break;
      for (const edge of this.edges(node)) {
        if (this.isPauseDue()) yield;
        if (components.get(edge.to) === components.get(to) && !cameFrom.has(edge.to))
          cameFrom.set(edge.to, node);
      }
    }
    const path: string[] = [];
    for (let step: string | undefined = to; step !== undefined; step = cameFrom.get(step)) path.unshift(step);
    return path;
  }
}

function* membersOf({ subjects }: TypeName, excluded: boolean): Generator<Edge, void, undefined> {
  for (const form of subjects ?? [])
    if (form.relation !== '') yield { to: `${form.type}#${form.relation}`, excluded };
}

const leaves = new WeakMap<Expression, readonly Leaf[]>();

/** Returns the leaf terms of an expression, each once. */
function leavesOf(expression: Expression): readonly Leaf[] {
  let known = leaves.get(expression);
  if (known === undefined) {
    const found = new Map<string, Leaf>();
    const walk = (term: Expression, excluded: boolean): void => {
      if ('terms' in term) {
        term.terms.forEach((each, index) => walk(each, excluded || (term.op === 'exclusion' && index > 0)));
      } else {
        const { op } = term;
        const key = op === 'this' ? op : op === 'name' ? term.name : `${term.relation}->${term.name}`;
        found.set(`${excluded} ${op} ${key}`, { term, excluded });
      }
    };
    walk(expression, false);
    leaves.set(expression, (known = [...found.values()]));
  }
  return known;
}
