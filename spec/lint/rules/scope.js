// The scope of the rules: declarations of this contract, not of libraries, and not instances of templates.
import { getLocationContext } from '@typespec/compiler';

/** Whether a declaration belongs to the contract itself. */
export function isOurs(program, type) {
  return getLocationContext(program, type).type === 'project';
}

/** Whether a model is declared directly: it has a name and is neither a template nor an instance of one. */
export function isDeclared(type) {
  return Boolean(type.name) && !type.templateMapper && !(type.node?.templateParameters?.length > 0);
}

/** Returns the type behind `T | null`, or the type itself. */
export function withoutNull(type) {
  if (type.kind !== 'Union') return type;
  const variants = [...type.variants.values()].map((variant) => variant.type);
  const rest = variants.filter((variant) => !(variant.kind === 'Intrinsic' && variant.name === 'null'));
  return rest.length === 1 ? rest[0] : type;
}
