/** The facts about the process that Node, Bun and Deno know, as far as a name needs them. */
interface Surroundings {
  readonly Deno?: unknown;
  readonly process?: {
    readonly pid?: number;
    readonly env?: Readonly<Record<string, string | undefined>>;
    readonly getBuiltinModule?: (name: string) => { hostname?: () => string } | undefined;
  };
}

/** The name of this worker: host and process id where these exist, else a random id. */
export function workerName(): string {
  const { Deno, process } = globalThis as Surroundings;
  // Deno would ask its user for permission to read these.
  if (Deno === undefined && process?.pid !== undefined) {
    const host = hostOf(process);
    if (host) return `${host}:${process.pid}`.slice(-128);
  }
  return `worker-${Math.random().toString(36).slice(2, 10)}`;
}

function hostOf({ getBuiltinModule, env }: NonNullable<Surroundings['process']>): string | undefined {
  try {
    return getBuiltinModule?.('node:os')?.hostname?.() ?? env?.['HOSTNAME'];
  } catch {
    return undefined;
  }
}
