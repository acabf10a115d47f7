import type {
  AwarenessPrimitive,
  Boundary,
  Instinct,
  Judgment,
  Policy,
  Profile,
  Reflex,
  Value,
} from '../../../../generated/safety/types.ts';
import { builtins } from '../engine/index.ts';
import type { RuleKind } from '../limits.ts';

/** A rule as the wire shows it. */
export interface RuleRecord {
  readonly id: string;
  readonly app_id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly revision: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The record of each kind. */
export interface Records {
  readonly instinct: Instinct;
  readonly awareness: AwarenessPrimitive;
  readonly boundary: Boundary;
  readonly value: Value;
  readonly judgment: Judgment;
  readonly reflex: Reflex;
  readonly profile: Profile;
  readonly policy: Policy;
}

/** What is particular to the resources of one kind, apart from their members. */
export interface Kind<K extends RuleKind> {
  readonly kind: K;
  /** The first part of its ids. */
  readonly prefix: string;
  /** The built-in ones; their names are those of no other. */
  readonly builtin: readonly Records[K][];
  /** The values by which lists of it are filtered. */
  readonly facets: (record: Omit<Records[K], keyof RuleRecord>) => string[];
  /** Members that records stored by earlier releases lack. */
  readonly added?: Partial<Records[K]>;
}

const none = () => [];

export const kinds: { readonly [K in RuleKind]: Kind<K> } = {
  instinct: {
    kind: 'instinct',
    prefix: 'inst',
    builtin: builtins.instincts,
    facets: ({ category }) => [category],
  },
  awareness: {
    kind: 'awareness',
    prefix: 'awr',
    builtin: builtins.awareness,
    facets: ({ focus }) => [focus],
  },
  boundary: {
    kind: 'boundary',
    prefix: 'bnd',
    builtin: [],
    facets: ({ limits }) => [...new Set(limits.map(({ scope }) => scope))],
  },
  value: { kind: 'value', prefix: 'val', builtin: builtins.values, facets: none },
  judgment: {
    kind: 'judgment',
    prefix: 'jdg',
    builtin: builtins.judgments,
    facets: ({ domain }) => [domain],
  },
  reflex: { kind: 'reflex', prefix: 'rflx', builtin: [], facets: none },
  profile: {
    kind: 'profile',
    prefix: 'sprf',
    builtin: builtins.profiles,
    facets: none,
    added: { phone_regions: [] },
  },
  policy: { kind: 'policy', prefix: 'spol', builtin: [], facets: ({ scope_level }) => [scope_level] },
};

/** The kinds that a profile consists of, by the member that lists them. */
export const partsOfProfiles = {
  instincts: 'instinct',
  awareness: 'awareness',
  boundaries: 'boundary',
  values: 'value',
  judgments: 'judgment',
  reflexes: 'reflex',
} as const;

export type ProfilePart = keyof typeof partsOfProfiles;
