/**
 * The texts of the members `data` as they were written in the body of a request: of the event that it is, or of the events that it has.
 * Absent data, for which `null` stands too, are undefined.
 * @param body valid JSON, in which no name occurs twice
 */
export function dataTexts(body: string): (string | undefined)[] {
  const events = members(body).get('events');
  const each = events === undefined ? [body] : items(events);
  return each.map((event) => {
    const data = members(event).get('data');
    return data === 'null' ? undefined : data;
  });
}

/** The members of an object with the texts of their values. */
function members(object: string): Map<string, string> {
  const found = new Map<string, string>();
  for (let at = pastSpace(object, 1); object[at] !== '}';) {
    const nameEnd = endOfValue(object, at);
    const name = JSON.parse(object.slice(at, nameEnd)) as string;
    const start = pastSpace(object, pastSpace(object, nameEnd) + 1);
    const end = endOfValue(object, start);
    found.set(name, object.slice(start, end));
    at = pastComma(object, end);
  }
  return found;
}

/** The texts of the items of an array. */
function items(array: string): string[] {
  const found: string[] = [];
  for (let at = pastSpace(array, 1); array[at] !== ']';) {
    const end = endOfValue(array, at);
    found.push(array.slice(at, end));
    at = pastComma(array, end);
  }
  return found;
}

const notSpace = /[^ \t\n\r]/g;
/** Whatever can begin or end something: the rest of a literal or of a string is passed at once. */
const boundary = /["{}[\],\t\n\r ]/g;

function pastSpace(text: string, from: number): number {
  notSpace.lastIndex = from;
  return notSpace.exec(text)?.index ?? text.length;
}

function pastComma(text: string, from: number): number {
  const at = pastSpace(text, from);
  return text[at] === ',' ? pastSpace(text, at + 1) : at;
}

/** The index after the value that begins at `from`. */
function endOfValue(text: string, from: number): number {
  let level = 0;
  let at = from;
  do {
    const character = text[at];
    if (character === '"') at = endOfText(text, at);
    else if (character === '{' || character === '[') [level, at] = [level + 1, at + 1];
    else if (character === '}' || character === ']') [level, at] = [level - 1, at + 1];
    else {
      boundary.lastIndex = at + 1;
      at = boundary.exec(text)?.index ?? text.length;
    }
  } while (level > 0);
  return at;
}

function endOfText(text: string, from: number): number {
  let at = from + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
