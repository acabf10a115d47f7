/** The targets of this run, and the part of the contract that each serves. */
import { inject } from 'vitest';
import { operations, type Operation } from '../generated/operations.ts';
import { nameOf } from './contract.ts';
import type { TargetInfo } from './setup.ts';

export type Target = 'mock' | 'server';

/** Returns undefined when the run does not include the target. */
export const targetOf = (name: Target): TargetInfo | undefined =>
  inject('contract').targets.find((target) => target.name === name);

/** Returns the operations that a target serves: the server those that exist, the mock all. */
export const servedBy = (name: Target): readonly Operation[] => {
  const served = new Set(targetOf(name)?.operations);
  return operations.filter((operation) => served.has(nameOf(operation)));
};
