import findMyWay from 'find-my-way';

/** The result of a lookup: the target added under the path, and the values of the path parameters by name. */
export interface Match<Target> {
  readonly target: Target;
  readonly params: Readonly<Record<string, string>>;
}

export interface PathRouter<Target> {
  /**
   * Returns the target under `template`, and creates it if it is new. In `/v1/roles/{roleId}` a parameter is one segment; the
   * last parameter, as `{+key}`, may contain slashes. Throws when the path is known under other parameter names.
   */
  at(template: string, make: () => Target): Target;
  /**
   * Returns undefined when nothing matches, and `malformed` for a path that is not valid percent-encoded UTF-8 or contains a `#`,
   * which no URL has there and at which the tree would cut it. When a
   * parameter with slashes allows several readings (`{+key}`, `{+key}/lock`), the reading with the longest fixed end whose
   * target `suits` wins, or the one with the longest end when none suits.
   */
  find(url: string, suits?: (target: Target) => boolean): Match<Target> | 'malformed' | undefined;
}

/**
 * A radix tree of paths, without methods: static segments take precedence over parameters for every method, so `DELETE
 * /keys/validate` is a wrong method on a known path and never means the id `validate`. The cost of `find` does not depend
 * on the number of paths.
 */
export function pathRouter<Target>(): PathRouter<Target> {
  const tree = findMyWay({ maxParamLength: 16_384, querystringParser: () => noQuery, onBadUrl: () => {} });
  const targets = new Map<string, { template: string; target: Target }>();
  const greedy = new Map<string, Reading<Target>[]>();
  const add = (path: string, stored: Stored<Target>) =>
    tree.on('GET', path.replaceAll(':', '::').replaceAll(/\{([^}]+)\}/g, ':$1'), () => {}, stored);
  return {
    at(template, make) {
      const shape = template.replaceAll(/\{\+?[^}]+\}/g, '{}');
      const known = targets.get(shape);
      if (known?.template === template) return known.target;
      if (known) throw new Error(`${template} and ${known.template} are the same path`);
      const target = make();
      targets.set(shape, { template, target });
      const [, start, name = '', end = ''] = /^(.*)\{\+([^}]+)\}([^{]*)$/.exec(template) ?? [];
      if (start === undefined) add(template, { target });
      else {
        const readings = greedy.get(start) ?? [];
        if (readings.length === 0) add(`${start}*`, { readings });
        readings.push({ name, end, target });
        readings.sort((a, b) => b.end.length - a.end.length);
        greedy.set(start, readings);
      }
      return target;
    },
    find(url, suits) {
      if (url.includes('#')) return 'malformed';
      const found = tree.find('GET', url);
      if (!found) return undefined;
      // For a bad URL the tree returns a match without a store.
      const stored = found.store as Stored<Target> | null | undefined;
      if (!stored) return 'malformed';
      const params = found.params as Record<string, string>;
      for (const name in params) if (params[name] === '') return undefined;
      return 'target' in stored ? { target: stored.target, params } : read(stored.readings, params, suits);
    },
  };
}

/** The content of a tree node: a target, or the readings of a path that continues with slashes. */
type Stored<Target> = { target: Target } | { readings: Reading<Target>[] };

/** A path that continues with a parameter that may contain slashes, and that may have a fixed end. */
interface Reading<Target> {
  name: string;
  end: string;
  target: Target;
}

function read<Target>(
  readings: readonly Reading<Target>[],
  { '*': rest = '', ...others }: Record<string, string>,
  suits: (target: Target) => boolean = () => true,
): Match<Target> | undefined {
  const possible = readings.filter(({ end }) => rest.endsWith(end) && rest.length > end.length);
  const found = possible.find(({ target }) => suits(target)) ?? possible[0];
  if (!found) return undefined;
  const value = rest.slice(0, rest.length - found.end.length);
  return { target: found.target, params: { ...others, [found.name]: value } };
}

/** The router does not parse the query; the matched operation does. */
const noQuery = Object.freeze({});
