import findMyWay from 'find-my-way';

/** Where a path leads: what was added under it, and the values of its parameters by name. */
export interface Match<Target> {
  readonly target: Target;
  readonly params: Readonly<Record<string, string>>;
}

export interface PathRouter<Target> {
  /**
   * The target under `template` (`/v1/roles/{roleId}`; `{+key}` at the end takes slashes too), made when it is new.
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
  return {
    at(template, make) {
      const shape = template.replaceAll(/\{\+?[^}]+\}/g, '{}');
      const known = targets.get(shape);
      if (known?.template === template) return known.target;
      if (known) throw new Error(`${template} and ${known.template} are the same path`);
      const target = make();
      const greedy = /\{\+([^}]+)\}$/.exec(template)?.[1];
      targets.set(shape, { template, target });
      tree.on('GET', treePath(template), () => {}, { target, greedy } satisfies Stored<Target>);
      return target;
    },
    find(url) {
      const found = tree.find('GET', url);
      if (!found) return undefined;
      // A bad URL is found, but holds nothing.
      const stored = found.store as Stored<Target> | null | undefined;
      if (!stored) return 'malformed';
      const params = found.params as Record<string, string>;
      for (const name in params) if (params[name] === '') return undefined;
      if (stored.greedy === undefined) return { target: stored.target, params };
      const { '*': rest = '', ...others } = params;
      return { target: stored.target, params: { ...others, [stored.greedy]: rest } };
    },
  };
}

interface Stored<Target> {
  target: Target;
  greedy: string | undefined;
}

/** The query is parsed by the operation that matched. */
const noQuery = Object.freeze({});

/** Colons are doubled where they stand for themselves; `{name}` becomes `:name`, a greedy end `*`. */
function treePath(template: string): string {
  return template
    .replaceAll(':', '::')
    .replaceAll(/\{\+[^}]+\}$/g, '*')
    .replaceAll(/\{([^}]+)\}/g, ':$1');
}
