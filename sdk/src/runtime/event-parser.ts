/** An event in its wire form. */
export interface WireEvent {
  readonly event: string;
  readonly data: string;
  /** The last id in the stream, from this event or an earlier one. */
  readonly id: string | undefined;
}

export interface EventParser {
  /** Returns the events that this piece of the stream completes. */
  push(text: string): WireEvent[];
  /** Milliseconds that the server requests between the end of the stream and the next connection. */
  readonly retry: number | undefined;
}

/**
 * Reads `text/event-stream` as the HTML standard defines it, however the text is split into pieces. Comments keep the
 * connection alive and are skipped. An event cut off by the end of the stream is dropped.
 */
export function eventParser(): EventParser {
  let rest = '';
  let afterReturn = false;
  let event = '';
  let data: string[] = [];
  let id: string | undefined;
  let retry: number | undefined;

  function field(line: string): void {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'event') event = value;
    else if (name === 'data') data.push(value);
    else if (name === 'id' && !value.includes('\0')) id = value === '' ? undefined : value;
    else if (name === 'retry' && /^\d+$/.test(value)) retry = Number(value);
  }

  function dispatch(): WireEvent | undefined {
    const complete = data.length > 0 ? { event: event || 'message', data: data.join('\n'), id } : undefined;
    event = '';
    data = [];
    return complete;
  }

  return {
    push(piece) {
      // The two characters of a line break may arrive in two pieces.
      const text = afterReturn && piece.startsWith('\n') ? piece.slice(1) : piece;
      if (piece !== '') afterReturn = piece.endsWith('\r');
      const [first = '', ...others] = text.split(/\r\n|\r|\n/);
      const lines = [rest + first, ...others];
      rest = lines.pop() ?? '';
      const events: WireEvent[] = [];
      for (const line of lines) {
        if (line !== '') field(line);
        else events.push(...[dispatch() ?? []].flat());
      }
      return events;
    },
    get retry() {
      return retry;
    },
  };
}
