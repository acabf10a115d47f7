import { type Operand, parseCondition } from './condition.ts';
import { comparisonsIn } from './possible.ts';

const isOfFindings = (operand: Operand): boolean =>
  operand.kind === 'name' && (operand.name === 'types' || operand.name === 'sources');

/** The types and sources of findings that a condition names, apart from patterns that may mean several. */
export const namesInCondition = (condition: string): string[] =>
  comparisonsIn(parseCondition(condition, 'condition'))
    .filter(({ left, right }) => isOfFindings(left) || isOfFindings(right))
    .flatMap(({ left, right }) => [left, right])
    .flatMap((operand) => (operand.kind === 'literal' ? [operand.value].flat() : []))
    .filter((name) => typeof name === 'string' && !name.includes('*')) as string[];
