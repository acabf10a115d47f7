import type { ServiceName } from '../../generated/operations.ts';
import * as sdk from '../../sdk/src/services/index.ts';
import type { Client } from '../../sdk/src/runtime/client.ts';
import type { Plinth } from '../../sdk/src/services/index.ts';
import type { Asker } from './asker.ts';

/**
 * Another service, as a service asks it: the generated interface of the SDK, except that the second argument says who asks.
 * Requests are those of the contract, and members with defaults may be left out. Answers are shared with the other service and
 * must not be changed. Every call is judged like a request: by the asker's rights, and by the other service's bounds and
 * defaults. A call throws the domain errors of the other service, and `Unavailable` when another server does not answer.
 */
export type Port<Service> = {
  readonly [Resource in keyof Service]: {
    readonly [Method in keyof Service[Resource]]: Asked<Service[Resource][Method]>;
  };
};

type Asked<Method> = Method extends (request: infer Request, options?: never) => infer Answer
  ? (request: Request, asker: Asker) => Answer
  : never;

/** The services that a service asks, by name. Without a `required` one the server does not start. */
export type Asks = { readonly [Name in ServiceName]?: 'required' | 'optional' };

/** The ports of a service: exactly those that it asks. An optional one is undefined where nothing serves it. */
export type PortsOf<Asked extends Asks> = {
  readonly [Name in keyof Asked & ServiceName]: 'required' extends Asked[Name]
    ? Port<Plinth[Name]>
    : Port<Plinth[Name]> | undefined;
};

/**
 * Builds the port of a service over a client that expects an `Asker` in place of the options of a call: the generated methods pass
 * their second argument on and read nothing of it but `signal`.
 */
export const portOver = <Name extends ServiceName>(name: Name, client: Client): Port<Plinth[Name]> =>
  sdk[name](client) as unknown as Port<Plinth[Name]>;
