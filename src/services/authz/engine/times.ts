const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:([Zz])|([+-])(\d\d):(\d\d))$/;
const TIME_OF_DAY = /^(\d\d):(\d\d)(?::(\d\d))?$/;

/** RFC 3339 (seconds optional) → milliseconds since the epoch; undefined when it is none. */
export function parseInstant(text: string): number | undefined {
  const match = INSTANT.exec(text);
  if (match === null) return undefined;
  const number = (group: number) => Number(match[group] ?? 0);
  const [year, month, day, hour, minute, second] = [
    number(1),
    number(2),
    number(3),
    number(4),
    number(5),
    number(6),
  ];
  if (hour > 23 || minute > 59 || second > 59 || number(10) > 23 || number(11) > 59) return undefined;
  const millisecond = Math.trunc(Number(`0.${match[7] ?? 0}`) * 1000);
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  local.setUTCHours(hour, minute, second, millisecond);
  if (local.getUTCMonth() !== month - 1 || local.getUTCDate() !== day) return undefined;
  const offset = (number(10) * 60 + number(11)) * 60_000;
  return local.getTime() - (match[9] === '-' ? -offset : offset);
}

/** `HH:MM[:SS]` → milliseconds since midnight; undefined when it is none. */
export function parseTimeOfDay(text: string): number | undefined {
  const match = TIME_OF_DAY.exec(text);
  if (match === null) return undefined;
  const [hour, minute, second] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
  return hour > 23 || minute > 59 || second > 59 ? undefined : ((hour * 60 + minute) * 60 + second) * 1000;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Whether the runtime knows the IANA zone. */
export function isZone(zone: string): boolean {
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    formatter(zone);
    return true;
  } catch {
    return false;
  }
}

/** What the clocks of a zone show at an instant, as milliseconds since midnight. */
export function timeOfDay(instant: number, zone: string): number {
  const milliseconds = ((instant % 1000) + 1000) % 1000;
  if (zone === 'UTC') return ((instant % 86_400_000) + 86_400_000) % 86_400_000;
  let seconds = 0;
  for (const part of formatter(zone).formatToParts(instant)) {
    if (part.type === 'hour') seconds += Number(part.value) * 3600;
    else if (part.type === 'minute') seconds += Number(part.value) * 60;
    else if (part.type === 'second') seconds += Number(part.value);
  }
  return seconds * 1000 + milliseconds;
}

/** Making a formatter costs far more than using it; there are about 600 zones and aliases, spelled in any case. */
function formatter(zone: string): Intl.DateTimeFormat {
  let format = formatters.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      hourCycle: 'h23',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    if (formatters.size < 1_000) formatters.set(zone, format);
  }
  return format;
}
