/** Compares what servers answer: every earlier promise must still hold. A client ignores members that it does not know. */
import type { Answer as Shown, Break, Draft as Change } from './break.ts';
import { mediaOf, schemasOf, type Answer, type Operation, type Schema } from './document.ts';
import { covers } from './mediatypes.ts';
import type { Pair } from './pair.ts';
import { remaining, unjudged } from './remains.ts';
import { requestOf } from './requests.ts';
import { sample } from './sample.ts';
import { textOf, textsOf } from './wire.ts';

type Draft = Change & Pick<Break, 'answer'>;

export function compareAnswers(pair: Pair, before: Operation, after: Operation): Break[] {
  const request = requestOf(pair.before, before);
  const drafts = [
    ...Object.entries(before.answers).flatMap(([status, old]) => {
      const now = after.answers[status];
      const isStream = Object.keys(before.events).length > 0;
      return now ? changed(pair, status, old, now, isStream) : removed(pair, status, old);
    }),
    ...added(pair, before, after),
    ...events(pair, before, after),
  ];
  return drafts.map((draft) => ({
    ...{ operation: before.name, certain: true, outcome: 'may now answer', request },
    cause: `${before.name} ${draft.place} ${draft.change}`,
    ...draft,
  }));
}

const isSuccess = (status: string): boolean => /^[123]/.test(status);

/** Removing an error harms no client. Removing a success leaves its clients without one. */
function removed(pair: Pair, status: string, old: Answer): Draft[] {
  if (!isSuccess(status)) return [];
  const [contentType, schema] = Object.entries(schemasOf(old.content))[0] ?? [];
  const body = contentType === undefined ? {} : { contentType, body: sample(pair.before, schema ?? {}) };
  const answer = { status, headers: {}, ...body };
  return [
    {
      place: status,
      change: 'removed',
      message: 'was answered, now never',
      outcome: 'used to answer',
      answer,
    },
  ];
}

/** Statuses that a server answers only when the request asks for them: a part of the content, or nothing when nothing is new. */
const asked = new Set(['206', '304']);

function added(pair: Pair, before: Operation, after: Operation): Draft[] {
  return Object.keys(after.answers)
    .filter((status) => /^2/.test(status) && !(status in before.answers) && !asked.has(status))
    .map((status) => {
      const [contentType, schema] = Object.entries(schemasOf(after.answers[status]?.content))[0] ?? [];
      const body = contentType === undefined ? {} : { contentType, body: sample(pair.after, schema ?? {}) };
      const answer = { status, headers: {}, ...body };
      return { place: status, change: 'added', message: 'is a new success', certain: false, answer };
    });
}

function changed(pair: Pair, status: string, old: Answer, now: Answer, isStream: boolean): Draft[] {
  const content = schemasOf(now.content);
  return [
    ...headers(pair, status, old, now),
    ...remaining(status, unjudged(old, now, ['headers', 'content', 'links'])),
    ...remaining(
      `${status}.body`,
      unjudged({ content: mediaOf(old.content) }, { content: mediaOf(now.content) }, []),
    ),
    ...Object.entries(schemasOf(old.content)).flatMap(([contentType, schema]) => {
      // A range of types promises any of them, so one remaining type within it is enough.
      const type = Object.keys(content).find((one) => covers(contentType, one));
      const other = type === undefined ? undefined : content[type];
      const answer = { status, headers: {}, contentType };
      if (!other) {
        const message = 'was answered in this content type, now never';
        const body = sample(pair.before, schema);
        return [
          {
            place: `${status}.body`,
            change: contentType,
            message,
            outcome: 'used to answer',
            answer: { ...answer, body },
          },
        ];
      }
      const read: Schemas = isStream && /^text\/event-stream/.test(contentType) ? [{}, {}] : [schema, other];
      // The content of a stream is compared event by event.
      return ofSchema(pair, read, `${status}.body`, (body) => ({ ...answer, body }));
    }),
  ];
}

type Schemas = readonly [old: Schema, now: Schema];

function ofSchema(
  pair: Pair,
  [old, now]: Schemas,
  at: string,
  answer: (value: unknown) => Shown,
  holds?: (value: unknown) => boolean,
): Draft[] {
  return pair.widened(old, now, holds).map(({ place, keyword, message, value, certain, cause }) => ({
    place: place === '' || place.startsWith('[') ? `${at}${place}` : `${at}.${place}`,
    change: keyword,
    // The reason is why the old contract refuses the value, because that is what clients could rely on.
    message: keyword === 'required' ? 'was always there' : certain ? `was promised: ${message}` : message,
    certain,
    ...(certain ? {} : { outcome: '' }),
    cause: `${cause} ${at} ${place} ${keyword}`,
    answer: answer(value),
  }));
}

function headers(pair: Pair, status: string, old: Answer, now: Answer): Draft[] {
  const known = new Map(
    Object.entries(now.headers ?? {}).map(([name, header]) => [name.toLowerCase(), header]),
  );
  return Object.entries(old.headers ?? {}).flatMap(([name, header]): Draft[] => {
    const place = `${status}.header.${name}`;
    const other = known.get(name.toLowerCase());
    const answer = (value: unknown): Shown => {
      const text = textOf(value);
      return { status, headers: text === undefined ? {} : { [name]: text } };
    };
    const isNew = (value: unknown): boolean => {
      const texts = textsOf(value);
      return (
        texts !== undefined &&
        pair.after.acceptsText(other?.schema ?? {}, texts) &&
        !pair.before.acceptsText(header.schema, texts)
      );
    };
    const drafts = other ? ofSchema(pair, [header.schema, other.schema], place, answer, isNew) : [];
    if (other) drafts.push(...remaining(place, unjudged(header, other, ['required', 'schema'])));
    if (!header.required || other?.required) return drafts;
    return [...drafts, { place, change: 'required', message: 'was always there', answer: answer(undefined) }];
  });
}

/** Clients ignore events that they do not know, and wait for those that they do. */
function events(pair: Pair, before: Operation, after: Operation): Draft[] {
  return Object.entries(before.events).flatMap(([event, schema]): Draft[] => {
    const now = after.events[event];
    const place = `event.${event}`;
    const status = Object.keys(before.answers).find(isSuccess) ?? '200';
    const answer = (body: unknown): Shown => ({ status, headers: {}, event, body });
    if (now) return ofSchema(pair, [schema, now], place, answer);
    const gone = answer(sample(pair.before, schema));
    return [
      { place, change: 'removed', message: 'was sent, now never', outcome: 'used to answer', answer: gone },
    ];
  });
}
