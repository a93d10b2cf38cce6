/**
 * Which process is it? A pid alone is not an identity, because the system gives it out again. Together with
 * the moment the process started (and, where pids start over, the boot), it is.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * An opaque text, equal for the same process and different for another one with the same pid.
 * null when no such process runs; one that has ended and only waits to be collected does not run.
 */
export function startTimeOf(pid: number): string | null {
  if (process.platform === 'linux') return onLinux(pid);
  const [command, args] = process.platform === 'win32' ? onWindows(pid) : onUnix(pid);
  try {
    // No time zone and no language: the text must come out the same in every shell.
    const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
    const text = execFileSync(command, args, {
      encoding: 'utf8',
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
      windowsHide: true,
    }).trim();
    return text === '' ? null : text;
  } catch {
    return null;
  }
}

/** Field 22 of `/proc/<pid>/stat` is the start in clock ticks since boot. */
function onLinux(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 2 is the program's name in brackets and may hold anything, also brackets and spaces.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = rest[18];
    if (ticks === undefined || state === 'Z' || state === 'X') return null;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${ticks}`;
  } catch {
    return null;
  }
}

function onUnix(pid: number): [string, string[]] {
  return ['ps', ['-o', 'lstart=', '-p', String(pid)]];
}

function onWindows(pid: number): [string, string[]] {
  const script = `(Get-Process -Id ${pid}).StartTime.ToUniversalTime().Ticks`;
  return ['powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', script]];
}
