import type {
  Awareness,
  Boundaries,
  Instincts,
  Judgments,
  Profiles,
  Reflexes,
  Values,
} from '../../../../generated/safety/server.ts';
import type { Context } from '../../../http/context.ts';
import type { Deps } from '../deps.ts';
import { kinds } from './kinds.ts';
import { rules } from './rules.ts';

/** The handlers of the seven kinds of resources that a profile is or consists of. */
export const primitives = (deps: Pick<Deps, 'db' | 'write'>) => ({
  Instincts: instincts(deps),
  Awareness: awareness(deps),
  Boundaries: boundaries(deps),
  Values: values(deps),
  Judgments: judgments(deps),
  Reflexes: reflexes(deps),
  Profiles: profiles(deps),
});

type Needed = Pick<Deps, 'db' | 'write'>;

function instincts(deps: Needed) {
  const of = rules(deps, kinds.instinct);
  return {
    ...of,
    list: ({ category, ...request }, context) => of.list(request, category, context),
  } satisfies Instincts<Context>;
}

function awareness(deps: Needed) {
  const of = rules(deps, kinds.awareness);
  return {
    ...of,
    list: ({ focus, ...request }, context) => of.list(request, focus, context),
  } satisfies Awareness<Context>;
}

function boundaries(deps: Needed) {
  const of = rules(deps, kinds.boundary);
  return {
    ...of,
    list: ({ scope, ...request }, context) => of.list(request, scope, context),
  } satisfies Boundaries<Context>;
}

function values(deps: Needed) {
  const of = rules(deps, kinds.value);
  return {
    ...of,
    list: (request, context) => of.list(request, undefined, context),
  } satisfies Values<Context>;
}

function judgments(deps: Needed) {
  const of = rules(deps, kinds.judgment);
  return {
    ...of,
    list: ({ domain, ...request }, context) => of.list(request, domain, context),
  } satisfies Judgments<Context>;
}

function reflexes(deps: Needed) {
  const of = rules(deps, kinds.reflex);
  return {
    ...of,
    list: (request, context) => of.list(request, undefined, context),
  } satisfies Reflexes<Context>;
}

function profiles(deps: Needed) {
  const of = rules(deps, kinds.profile);
  return {
    ...of,
    list: (request, context) => of.list(request, undefined, context),
  } satisfies Profiles<Context>;
}
