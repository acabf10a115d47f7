// The headers that the frame reads for all handlers are parameters of the operations on which it reads them. Which those are
// follows from an operation's access, verb and answers, as it does in the frame, so that no operation has to name them.
import { getExamples, serializeValueAsJson } from '@typespec/compiler';
import { getAuthentication, getHttpOperation } from '@typespec/http';
import { getExtensions, setExtension } from '@typespec/openapi';

/** Adds to the parameters of an operation those that the frame reads of it. */
export function addFrameHeaders(program, operation) {
  const [http] = getHttpOperation(program, operation);
  if (takesCredentials(program, operation)) spread(program, operation, 'Plinth.OnBehalf');
  if (isRepeatable(program, operation, http)) spread(program, operation, 'Plinth.Repeatable');
}

const platform = ['BearerAuth', 'ApiKeyAuth'];

/** A public operation takes the platform's credentials only where it says so itself. */
function takesCredentials(program, operation) {
  if (getExtensions(program, operation).get('x-access') !== 'public') return true;
  const { options = [] } = getAuthentication(program, operation) ?? {};
  return options.some(({ schemes }) => schemes.some(({ id }) => platform.includes(id)));
}

/** Whether an operation creates something, or is marked as repeatable, and can answer that a key was used before. */
function isRepeatable(program, operation, { verb, responses }) {
  const statuses = responses.map(({ statusCodes }) => statusCodes);
  const creates = statuses.includes(201) || getExtensions(program, operation).has('x-repeatable');
  return verb === 'post' && creates && statuses.includes(409);
}

/** As `...Model` in the list of parameters would do it; and the emitter has no other way to write an example of a parameter. */
function spread(program, { parameters }, name) {
  const [model] = program.resolveTypeReference(name);
  for (const [key, property] of model.properties) {
    const own = program.checker.cloneType(property, { model: parameters, sourceProperty: property });
    const [example] = getExamples(program, property);
    if (example)
      setExtension(program, own, 'example', serializeValueAsJson(program, example.value, own.type));
    parameters.properties.set(key, own);
  }
}
