// What the rules look at: declarations of this contract, not of libraries, and not the instances of templates.
import { getLocationContext } from '@typespec/compiler';

/** Whether a declaration is written in the contract itself. */
export function isOurs(program, type) {
  return getLocationContext(program, type).type === 'project';
}

/** Whether a model is declared as it stands: named, and neither a template nor made from one. */
export function isDeclared(type) {
  return Boolean(type.name) && !type.templateMapper && !(type.node?.templateParameters?.length > 0);
}

/** The type behind `T | null`, or the type itself. */
export function withoutNull(type) {
  if (type.kind !== 'Union') return type;
  const variants = [...type.variants.values()].map((variant) => variant.type);
  const rest = variants.filter((variant) => !(variant.kind === 'Intrinsic' && variant.name === 'null'));
  return rest.length === 1 ? rest[0] : type;
}
