// Decorators of the contract: what OpenAPI has no word for is written into the document as an extension, so that the
// generator, the server and the mock read it from there and from nowhere else.
import {
  getDoc,
  getExamples,
  listServices,
  navigateTypesInNamespace,
  serializeValueAsJson,
} from '@typespec/compiler';
import { $ } from '@typespec/compiler/typekit';
import { $useAuth, getAuthentication, getHttpOperation } from '@typespec/http';
import { getExtensions, setExtension } from '@typespec/openapi';
import { addFrameHeaders } from './frame.js';
import { credentials, needed } from './words.js';

export const namespace = 'Plinth';

const examples = (program) => program.stateMap(Symbol.for('TypeSpec.examples'));
const docs = (program) => program.stateMap(Symbol.for('TypeSpec.docs'));
const initials = (program) => program.stateMap(Symbol.for('Plinth.initials'));

/** The access level of an operation when it is not the one its verb implies. */
export function $access(context, target, level) {
  setExtension(context.program, target, 'x-access', level.name);
  if (level.name === 'public') context.program.stateMap(Symbol.for('Plinth.public')).set(target, true);
  // API keys stand for no user: the document does not offer them.
  if (level.name === 'user') context.call($useAuth, target, bearerAuth(context.program));
}

const bearerAuth = (program) => program.resolveTypeReference('TypeSpec.Http.BearerAuth')[0];

/** The status of a failure of the database, where 503 means something else. */
export function $storeFailure(context, target, status) {
  setExtension(context.program, target, 'x-store-failure', status);
}

/** The largest request body in bytes, where it is not 1 MiB. */
export function $bodyLimit(context, target, bytes) {
  setExtension(context.program, target, 'x-body-limit', bytes);
}

/** Headers of a request that are named by a prefix. */
export function $prefixedHeaders(context, target, headers) {
  setExtension(context.program, target, 'x-prefixed-headers', headers);
}

/** The prefix of headers of a response. */
export function $answeredPrefix(context, target, prefix) {
  setExtension(context.program, target, 'x-answered-prefix', prefix);
}

/** Seconds in which a body has to arrive, and for which nothing may move. */
export function $timeLimits(context, target, limits) {
  setExtension(context.program, target, 'x-time-limits', limits);
}

/** An operation whose JSON is sent as it is produced. */
export function $streamed(context, target) {
  setExtension(context.program, target, 'x-streamed', true);
}

/** The schema of the lines of an `application/x-ndjson` answer. */
export function $lines(context, target, line) {
  setExtension(context.program, target, 'x-lines', { $ref: `#/components/schemas/${line.name}` });
}

/** A model of requests that may carry all that was read, although they create nothing. */
export function $writtenBack(context, target) {
  setExtension(context.program, target, 'x-written-back', true);
}

/** A model whose members requests may spell in other cases and with underscores. */
export function $folded(context, target) {
  setExtension(context.program, target, 'x-folded', true);
}

/** A text that may hold U+0000 and lone surrogates. */
export function $anyText(context, target) {
  setExtension(context.program, target, 'x-any-text', true);
}

/** A number that is kept exactly, as far as JSON numbers are. */
export function $exact(context, target) {
  setExtension(context.program, target, 'x-exact', true);
}

/** A path parameter that takes slashes too. */
export function $greedy(context, target) {
  setExtension(context.program, target, 'x-greedy', true);
}

/** A header that the frame reads for all handlers, so that none of them takes it. */
export function $frame(context, target) {
  setExtension(context.program, target, 'x-frame', true);
}

/** An operation that a key makes safe to repeat, although it answers with 200 or 202. */
export function $repeatable(context, target) {
  setExtension(context.program, target, 'x-repeatable', true);
}

/** An operation that ignores query parameters that it does not know. */
export function $tolerant(context, target) {
  setExtension(context.program, target, 'x-tolerant', true);
}

/** Takes the description of `source` over. */
export function $describedBy(context, target, source) {
  say(context.program, target, getDoc(context.program, source));
}

const say = (program, target, value) => docs(program).set(target, { value, source: 'decorator' });

/** The typed events of a `text/event-stream` answer, as event name → schema. */
export function $events(context, target, union) {
  const schemas = [...union.variants.values()].map((variant) => [
    variant.name,
    { $ref: `#/components/schemas/${variant.type.name}` },
  ]);
  setExtension(context.program, target, 'x-events', Object.fromEntries(schemas));
}

/**
 * Answers carry every member, so a resource requires all of them; what its source says about defaults is kept for the
 * requests derived from it.
 */
export function $resource(context, target) {
  for (const property of target.properties.values()) {
    if (!property.optional) continue;
    initials(context.program).set(property, { defaultValue: property.defaultValue });
    property.optional = false;
    property.defaultValue = undefined;
  }
}

/** Members of `source` that `target` may leave out on creation, with the defaults they then have. */
export function $creates(context, target, source) {
  for (const property of target.properties.values()) {
    const initial = initialOf(context.program, property);
    if (!initial) continue;
    property.optional = true;
    property.defaultValue = initial.defaultValue;
  }
  describeRequest(context, target, source);
}

/** Every member of `target` may be absent, and then keeps its value; where it has a default, `null` gives that back. */
export function $updates(context, target, source) {
  const { program } = context;
  const restores = {};
  for (const property of target.properties.values()) {
    property.optional = true;
    property.defaultValue = undefined;
    const initial = initialOf(program, source.properties.get(property.name))?.defaultValue;
    if (!initial || initial.valueKind === 'NullValue') continue;
    restores[property.name] = serializeValueAsJson(program, initial, property.type);
    property.type = nullable(program, property.type);
  }
  if (Object.keys(restores).length > 0) setExtension(program, target, 'x-restores', restores);
  describeRequest(context, target, source);
}

function nullable(program, type) {
  const { union, intrinsic } = $(program);
  const variants = type.kind === 'Union' ? [...type.variants.values()] : [];
  return variants.some((variant) => variant.type === intrinsic.null)
    ? type
    : union.create([type, intrinsic.null]);
}

/** The members that only the server sets are named: a change may carry them as they were read, a new resource has none. */
function describeRequest(context, target, source) {
  const ignored = [...source.properties.keys()].filter((name) => !target.properties.has(name));
  setExtension(context.program, target, 'x-ignored', ignored.sort());
  const given = getExamples(context.program, source);
  if (given.length > 0) examples(context.program).set(target, [...given]);
}

/** What the resource said of a member, which may come from a mix-in of the resource's own. */
function initialOf(program, property) {
  for (let at = property; at; at = at.sourceProperty) {
    const initial = initials(program).get(at);
    if (initial) return initial;
  }
  return undefined;
}

/**
 * Before documents are written: the first sentence of an operation's comment becomes its title in references, and the
 * comment of an interface describes the tag of the same name. Nobody has to say either twice. What a caller needs is said of
 * every operation, in words that follow from its access, its verb and its credentials.
 */
export function $onValidate(program) {
  const summaries = program.stateMap(Symbol.for('TypeSpec.summary'));
  const tags = program.stateMap(Symbol.for('@typespec/openapi/tagsMetadata'));
  for (const { type: service } of listServices(program)) {
    const described = [];
    describeCredentials(program, service);
    navigateTypesInNamespace(service, {
      operation(operation) {
        const doc = getDoc(program, operation);
        if (!doc) return;
        if (!summaries.has(operation)) summaries.set(operation, titleOf(doc));
        describeCall(program, service, operation, restOf(doc, summaries.get(operation)));
      },
      interface(type) {
        const description = getDoc(program, type);
        if (description) described.push({ name: type.name, description });
      },
    });
    tags.set(service, described);
  }
}

/** Titles have room for 80 characters: what follows a colon or semicolon goes first. */
function titleOf(text) {
  const sentence = text.split(/\.(?:\s|$)/, 1)[0].replaceAll('\n', ' ');
  return sentence.length <= 80 ? sentence : sentence.split(/[:;] /, 1)[0];
}

/** The comment without the sentence that is the title already. */
function restOf(text, title) {
  const plain = text.replaceAll(/\s*\n(?!\n)\s*/g, (gap) => (gap.includes('\n\n') ? gap : ' '));
  return plain.startsWith(`${title}.`) ? plain.slice(title.length + 1).trim() : text.trim();
}

/** What the comment leaves to say goes before what a caller needs; parameters and credentials get words of their own. */
function describeCall(program, service, operation, said) {
  addFrameHeaders(program, operation);
  const [http] = getHttpOperation(program, operation);
  const access =
    getExtensions(program, operation).get('x-access') ??
    (['get', 'head'].includes(http.verb) ? 'read' : 'write');
  const words = [said, needed(service.name.toLowerCase(), access)];
  say(program, operation, words.filter((text) => text !== '').join('\n\n'));
  for (const { param } of http.parameters.parameters) {
    const words = !getDoc(program, param) && getDoc(program, param.type);
    if (words) say(program, param, words);
  }
  for (const target of [operation, operation.interface]) if (target) describeCredentials(program, target);
}

/** Whoever takes a credential of the platform, it is the same. What was declared already has its words, and keeps them. */
function describeCredentials(program, target) {
  const { options = [] } = getAuthentication(program, target) ?? {};
  for (const scheme of options.flatMap(({ schemes }) => schemes)) {
    const words = credentials[scheme.id];
    if (words) scheme.description ??= words;
  }
}
