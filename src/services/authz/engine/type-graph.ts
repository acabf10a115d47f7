import { Invalid } from '../../../lib/errors.ts';
import { parseExpression } from './expression.ts';
import type { Expression } from './expression.ts';
import { judgeCycles } from './type-cycles.ts';
import type { ResourceTypeRule } from './types.ts';

const kindPattern = '[A-Za-z][A-Za-z0-9_.-]{0,63}';
const relationPattern = '[A-Za-z_](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9_])?';
const relationName = new RegExp(`^${relationPattern}$`);
const subjectForm = new RegExp(`^(${kindPattern})(?:(:\\*)|#(${relationPattern}))?$`);

/** The subject form that an entry of a relation's `subjects` admits. */
export interface SubjectForm {
  readonly type: string;
  readonly wildcard: boolean;
  /** `''` for a plain subject. */
  readonly relation: string;
}

/** A relation or permission of a type, parsed. */
export interface TypeName {
  readonly expression: Expression;
  /** Forms that a tuple's subject may have. Null for a permission, which holds no tuples. */
  readonly subjects: readonly SubjectForm[] | null;
}

/** The names of a type, parsed. */
export type TypeNames = ReadonlyMap<string, TypeName>;

/**
 * Checks a resource type on write against all other types of the tenant (an older version of the same type is ignored): names,
 * subject forms, expressions, and that no cycle runs through the right side of a `-`.
 * @throws Invalid
 */
export function checkResourceType(type: ResourceTypeRule, types: Iterable<ResourceTypeRule>): void {
  const names = parseNewType(type);
  const others = new Map<string, TypeNames>();
  for (const other of types) if (other.id !== type.id) others.set(other.name, parseType(other));
  for (const _ of judgeCycles(type.name, names, others));
}

/** Parses the names of a type that is being written. @throws Invalid, naming the member that is wrong */
export function parseNewType(type: Pick<ResourceTypeRule, 'relations' | 'permissions'>): TypeNames {
  const names = parseType(type);
  checkArrows(type, names);
  return names;
}

/** Parses the names of a type. @throws Invalid, naming the member that is wrong */
export function parseType(type: Pick<ResourceTypeRule, 'relations' | 'permissions'>): Map<string, TypeName> {
  const names = new Map<string, TypeName>();
  type.relations.forEach((relation, index) => {
    const field = `relations[${index}]`;
    checkName(relation.name, `${field}.name`, names);
    const subjects = relation.subjects.map((text, at) => parseSubjectForm(text, `${field}.subjects[${at}]`));
    names.set(relation.name, {
      expression: parseExpression(relation.expression ?? 'this', `${field}.expression`),
      subjects,
    });
  });
  type.permissions.forEach((permission, index) => {
    const field = `permissions[${index}]`;
    checkName(permission.name, `${field}.name`, names);
    names.set(permission.name, {
      expression: parseExpression(permission.expression, `${field}.expression`),
      subjects: null,
    });
  });
  const fieldOf = (list: readonly { name: string }[], key: string, name: string) =>
    `${key}[${list.findIndex((entry) => entry.name === name)}].expression`;
  for (const [name, { expression, subjects }] of names) {
    const field =
      subjects === null
        ? fieldOf(type.permissions, 'permissions', name)
        : fieldOf(type.relations, 'relations', name);
    checkTerms(expression, subjects !== null, names, field);
  }
  return names;
}

function checkName(name: string, field: string, names: ReadonlyMap<string, TypeName>): void {
  if (!relationName.test(name)) throw Invalid(`${field}: not a relation name`);
  if (name === 'this') throw Invalid(`${field}: "this" is reserved`);
  if (names.has(name)) throw Invalid(`${field}: "${name}" is used twice`);
}

function parseSubjectForm(text: string, field: string): SubjectForm {
  const match = subjectForm.exec(text);
  if (match?.[1] === undefined) throw Invalid(`${field}: expected "type", "type:*" or "type#relation"`);
  return { type: match[1], wildcard: match[2] !== undefined, relation: match[3] ?? '' };
}

function checkTerms(
  expression: Expression,
  inRelation: boolean,
  names: ReadonlyMap<string, TypeName>,
  field: string,
): void {
  switch (expression.op) {
    case 'this':
      if (!inRelation) throw Invalid(`${field}: "this" is for relations`);
      return;
    case 'name':
      if (!names.has(expression.name)) {
        throw Invalid(`${field}: unknown name "${expression.name}" at ${expression.at + 1}`);
      }
      return;
    case 'arrow': {
      const left = names.get(expression.relation);
      const at = expression.at + 1;
      if (left === undefined) throw Invalid(`${field}: unknown name "${expression.relation}" at ${at}`);
      if (left.subjects === null)
        throw Invalid(`${field}: "${expression.relation}" is not a relation at ${at}`);
      return;
    }
    default:
      for (const term of expression.terms) checkTerms(term, inRelation, names, field);
  }
}

/**
 * Rejects arrows through wildcards: an arrow follows tuples to objects, and a wildcard names none. Types from before this check
 * may have such an arrow.
 */
function checkArrows(
  { relations, permissions }: Pick<ResourceTypeRule, 'relations' | 'permissions'>,
  names: ReadonlyMap<string, TypeName>,
): void {
  const check = (expression: Expression, field: string): void => {
    if (expression.op === 'arrow') {
      const wildcard = names.get(expression.relation)?.subjects?.find((form) => form.wildcard);
      if (wildcard !== undefined) {
        const { relation, at } = expression;
        throw Invalid(
          `${field}: "->" cannot follow "${relation}", which admits "${wildcard.type}:*" at ${at + 1}`,
        );
      }
    } else if ('terms' in expression) {
      for (const term of expression.terms) check(term, field);
    }
  };
  for (const [key, list] of Object.entries({ relations, permissions })) {
    for (const [index, { name }] of list.entries())
      check(names.get(name)!.expression, `${key}[${index}].expression`);
  }
}
