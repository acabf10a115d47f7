import findMyWay from 'find-my-way';

/** Where a path leads: what was added under it, and the values of its parameters by name. */
export interface Match<Target> {
  readonly target: Target;
  readonly params: Readonly<Record<string, string>>;
}

export interface PathRouter<Target> {
  /**
   * The target under `template` (`/v1/roles/{roleId}`; `{+key}` takes slashes too), made when it is new.
   * Throws when the path is known under other parameter names.
   */
  at(template: string, make: () => Target): Target;
  /** Undefined where nothing matches; `malformed` for a path that is not valid percent-encoded UTF-8. */
  find(url: string): Match<Target> | 'malformed' | undefined;
}

/**
 * A radix tree of paths, without methods: static segments beat parameters whatever the method, so `DELETE
 * /keys/validate` is a wrong method of a known path and never the id `validate`. The cost of `find` does not depend on
 * the number of paths.
 */
export function pathRouter<Target>(): PathRouter<Target> {
  const tree = findMyWay({ maxParamLength: 16_384, querystringParser: () => noQuery, onBadUrl: () => {} });
  const targets = new Map<string, { template: string; target: Target }>();
  const greedy = new Map<string, Greedy<Target>>();

  /** The tree knows a wildcard at the end only: what may follow it is told apart by how the path ends. */
  function greedyAt(start: string): Greedy<Target> {
    let found = greedy.get(start);
    if (!found) {
      found = { ends: [] };
      greedy.set(start, found);
      tree.on('GET', `${treePath(start)}*`, () => {}, found);
    }
    return found;
  }

  return {
    at(template, make) {
      const shape = template.replaceAll(/\{\+?[^}]+\}/g, '{}');
      const known = targets.get(shape);
      if (known?.template === template) return known.target;
      if (known) throw new Error(`${template} and ${known.template} are the same path`);
      const target = make();
      targets.set(shape, { template, target });
      const parts = /^(.*)\{\+([^}]+)\}(.*)$/.exec(template);
      if (parts) {
        const [, start = '', name = '', end = ''] = parts;
        const { ends } = greedyAt(start);
        ends.push({ end, name, target });
        ends.sort((one, other) => other.end.length - one.end.length);
      } else tree.on('GET', treePath(template), () => {}, { target });
      return target;
    },
    find(url) {
      const found = tree.find('GET', url);
      if (!found) return undefined;
      // A bad URL is found, but holds nothing.
      const stored = found.store as Greedy<Target> | { target: Target } | null | undefined;
      if (!stored) return 'malformed';
      const params = found.params as Record<string, string>;
      for (const name in params) if (params[name] === '') return undefined;
      if (!('ends' in stored)) return { target: stored.target, params };
      const { '*': rest = '', ...others } = params;
      const fitting = stored.ends.find(({ end }) => rest.length > end.length && rest.endsWith(end));
      if (!fitting) return undefined;
      const value = rest.slice(0, rest.length - fitting.end.length);
      return { target: fitting.target, params: { ...others, [fitting.name]: value } };
    },
  };
}

/** The paths that begin alike up to a parameter that takes slashes, the longest end first. */
interface Greedy<Target> {
  readonly ends: { end: string; name: string; target: Target }[];
}

/** The query is parsed by the operation that matched. */
const noQuery = Object.freeze({});

/** Colons are doubled where they stand for themselves; `{name}` becomes `:name`. */
function treePath(template: string): string {
  return template.replaceAll(':', '::').replaceAll(/\{([^}]+)\}/g, ':$1');
}
