import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { keyEvents, keyStates, nextState, transitions } from './key-states.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

describe('the table of states', () => {
  it('names the states of the contract, in its order', () => {
    const document = JSON.parse(read('../../../tsp-output/openapi/Keys.json'));
    expect(document.components.schemas.KeyState.enum).toEqual(keyStates);
  });

  it('names the states that the database accepts', () => {
    const [, list = ''] =
      /constraint keys_state check \(state in \(([^)]+)\)\)/.exec(read('./migrations/0001_keys.sql')) ?? [];
    expect(list.split(', ').map((state) => state.slice(1, -1))).toEqual(keyStates);
  });

  it('answers every event in every state', () => {
    for (const state of keyStates) expect(Object.keys(transitions[state])).toEqual(keyEvents);
  });

  it('leads out of revoked nowhere', () => {
    expect(new Set(Object.values(transitions.revoked))).toEqual(new Set([null, 'revoked']));
  });
});

describe('the next state', () => {
  it('refuses what the state does not allow and names the state', () => {
    expect(() => nextState({ state: 'revoked', suspended: false }, 'reactivate')).toThrow('key is revoked');
    expect(() => nextState({ state: 'expired', suspended: false }, 'suspend')).toThrow('key is expired');
    expect(() => nextState({ state: 'suspended', suspended: true }, 'rotate')).toThrow('key is suspended');
  });

  it('gives an expired key back what it was before', () => {
    expect(nextState({ state: 'expired', suspended: false }, 'extend')).toBe('active');
    expect(nextState({ state: 'expired', suspended: true }, 'extend')).toBe('suspended');
  });
});
