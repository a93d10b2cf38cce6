/** A moment as systems compare it, and as people of one time zone read it. Pure: the zone is an argument. */
import { utc } from '../platform/clock.ts';

/** `2026-11-30T09:00:00.000Z`; in another zone also `(2026-11-30 18:00:00 Asia/Tokyo)`. `zone` is an IANA name. */
export function timeInWords(ms: number, zone: string): string {
  return zone === 'UTC' ? utc(ms) : `${utc(ms)} (${localTime(ms, zone)} ${zone})`;
}

function localTime(ms: number, zone: string): string {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, value]),
  );
  const of = (...types: Intl.DateTimeFormatPartTypes[]) => types.map((type) => parts.get(type) ?? '');
  return `${of('year', 'month', 'day').join('-')} ${of('hour', 'minute', 'second').join(':')}`;
}

/** Making one costs more than using it, and a list asks for hundreds. */
const FORMATS = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const made = FORMATS.get(zone) ?? newFormat(zone);
  FORMATS.set(zone, made);
  return made;
}

function newFormat(timeZone: string): Intl.DateTimeFormat {
  const two = '2-digit';
  const time = { hour: two, minute: two, second: two, hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat('en-GB', { timeZone, year: 'numeric', month: two, day: two, ...time });
}
