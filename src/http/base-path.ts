/** Replaces the start of a contract's paths by another one: `/v1/auth/me` may be served as `/x/me`. */
export interface BasePath {
  /** The prefix of all paths of the contract. */
  readonly documented: string;
  readonly served: string;
}

/** The path under which a path of the contract is served. */
export function servedPath(path: string, base: BasePath | undefined): string {
  if (base === undefined) return path;
  if (!path.startsWith(`${base.documented}/`))
    throw new Error(`the path ${path} does not begin with ${base.documented}`);
  return base.served + path.slice(base.documented.length);
}
