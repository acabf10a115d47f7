/** What this run is pointed at, and which part of the contract each target serves. */
import { inject } from 'vitest';
import { operations, type Operation } from '../generated/operations.ts';
import { nameOf } from './contract.ts';
import type { TargetInfo } from './setup.ts';

export type Target = 'mock' | 'server';

/** Undefined when the run is pointed elsewhere. */
export const targetOf = (name: Target): TargetInfo | undefined =>
  inject('contract').targets.find((target) => target.name === name);

/** The operations that a target answers: the server those that are built, the mock all. */
export const servedBy = (name: Target): readonly Operation[] => {
  const served = new Set(targetOf(name)?.operations);
  return operations.filter((operation) => served.has(nameOf(operation)));
};
