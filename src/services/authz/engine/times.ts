const instantForm =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:([Zz])|([+-])(\d\d):(\d\d))$/;
const timeOfDayForm = /^(\d\d):(\d\d)(?::(\d\d))?$/;

/** Parses RFC 3339 (seconds optional) into milliseconds since the epoch. Returns undefined for any other text. */
export function parseInstant(text: string): number | undefined {
  const match = instantForm.exec(text);
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
  // A leap second counts as the beginning of the next minute.
  if (hour > 23 || minute > 59 || second > 60 || number(10) > 23 || number(11) > 59) return undefined;
  const millisecond = Math.trunc(Number(`0.${match[7] ?? 0}`) * 1000);
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  if (local.getUTCMonth() !== month - 1 || local.getUTCDate() !== day) return undefined;
  local.setUTCHours(hour, minute, second, second === 60 ? 0 : millisecond);
  const offset = (number(10) * 60 + number(11)) * 60_000;
  return local.getTime() - (match[9] === '-' ? -offset : offset);
}

/** Parses `HH:MM[:SS]` into milliseconds since midnight. Returns undefined for any other text. */
export function parseTimeOfDay(text: string): number | undefined {
  const match = timeOfDayForm.exec(text);
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

/** Returns the local time of a zone at an instant, in milliseconds since midnight. */
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

/** Creating a formatter costs far more than using it. There are about 600 zones and aliases, spelled in any case. */
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
