/** Reads lists of fields in the documents' notation: `` `name` (req), `ports` (array of `port`), `key` (Key) ``. */

export interface Field {
  /** For example `resources.cpu_millis`: a member of a member, of its items or of its values. */
  readonly path: string;
  readonly required: boolean;
}

export interface Vocabulary {
  /** Returns the fields of a resource by its lower-case name, if the document shows them. */
  readonly resource: (name: string) => readonly Field[] | undefined;
  /** Members whose parentheses contain their own members, not values. */
  readonly objects: readonly string[];
  /** Members that are resources, with the resource's name. */
  readonly members: Readonly<Record<string, string>>;
}

// A name in backticks, parentheses (with one nested pair), or a resource after `: array of `.
const tokens = /`([^`]+)`|\(((?:[^()]|\([^()]*\))*)\)|(?<=`: )array of ([a-z ]+)/g;

export function readFields(text: string, vocabulary: Vocabulary): Field[] {
  const found: Field[] = [];
  for (const match of text.matchAll(tokens)) {
    const [, quoted, remark, items] = match;
    const last = found.findLast(({ path }) => !path.includes('.'));
    if (quoted?.startsWith('{')) {
      const within = text.slice(0, match.index).endsWith('`: array of ') ? last?.path : undefined;
      found.push(...under(within, readShape(quoted, vocabulary)));
    } else if (quoted !== undefined) {
      const name = /^(\w+)(: \w+)?$/.exec(quoted)?.[1];
      if (name !== undefined) found.push(...member(name, vocabulary));
    } else if (last) {
      if (/^req(,|$)/.test(remark ?? '')) found[found.indexOf(last)] = { ...last, required: true };
      const own = under(last.path, inside(last.path, remark ?? items ?? '', vocabulary));
      // The text in parentheses overrides what the member is elsewhere.
      const known = ({ path }: Field) => !path.startsWith(`${last.path}.`);
      if (own.length > 0) found.splice(0, found.length, ...found.filter(known), ...own);
    }
  }
  return [...new Map(found.map((field) => [field.path, field])).values()];
}

/** Returns the members of a member that the parentheses after it list. Most parentheses give values or a type, which are not members. */
function inside(name: string, remark: string, vocabulary: Vocabulary): readonly Field[] {
  const [text = ''] = remark.split(';');
  const resource = vocabulary.resource(text.toLowerCase()) ?? vocabulary.resource(singular(text));
  if (resource) return resource;
  const holdsMembers = /^array of `|^`\{/.test(text) || vocabulary.objects.includes(name);
  return holdsMembers ? readFields(text.replaceAll(/: \w+/g, ''), vocabulary) : [];
}

export const singular = (name: string): string => name.toLowerCase().trim().replace(/s$/, '');

function member(name: string, { members, resource }: Vocabulary): Field[] {
  const of = members[name];
  return [{ path: name, required: false }, ...under(name, (of && resource(of)) || [])];
}

function under(name: string | undefined, fields: readonly Field[]): Field[] {
  return fields.map(({ path, required }) =>
    name === undefined ? { path, required } : { path: `${name}.${path}`, required: false },
  );
}

/** Returns the members of `{id, results: [{id, status}], by: {<name>: {used}}}`. A placeholder such as `<name>` is not a member. */
export function readShape(text: string, vocabulary: Vocabulary): Field[] {
  const parts = text.match(/[{}[\],:]|<[^>]*>|"?\w+(?: \w+)*"?/g) ?? [];
  let at = 0;

  const value = (): readonly Field[] => {
    const part = parts[at++];
    if (part === '{') return object();
    if (part === '[') {
      const fields = parts[at] === ']' ? [] : value();
      at++;
      return fields;
    }
    return vocabulary.resource((part ?? '').toLowerCase()) ?? [];
  };
  const object = (): Field[] => {
    const fields: Field[] = [];
    while (at < parts.length && parts[at] !== '}') {
      const part = parts[at++] ?? '';
      if (part === ',') continue;
      const name = part.replaceAll('"', '');
      const typed = parts[at] === ':';
      // `{state: count}` is a map: both words are placeholders.
      const placeholder = name.startsWith('<') || (typed && /^(?!string)[a-z]/.test(parts[at + 1] ?? ''));
      if (typed) at++;
      const of = typed
        ? value()
        : member(name, vocabulary)
            .filter(({ path }) => path !== name)
            .map(cut);
      fields.push(...(placeholder ? of : [{ path: name, required: false }, ...under(name, of)]));
    }
    at++;
    return fields;
  };
  return [...value()];
}

const cut = ({ path, required }: Field): Field => ({ path: path.slice(path.indexOf('.') + 1), required });
