/** The local stack cannot start, for a reason that a person can act on. The message is one clear sentence. */
export class CannotStart extends Error {
  override readonly name: string = 'CannotStart';
}

/** Another stack owns the same data. `pid` is its process, or null when it has not written it down yet. */
export class AlreadyRunning extends CannotStart {
  override readonly name = 'AlreadyRunning';
  readonly pid: number | null;

  constructor(dir: string, pid: number | null) {
    const who = pid === null ? 'another process' : `process ${pid}`;
    super(`Cannot start on "${dir}": ${who} already runs a stack on this data; stop it first.`);
    this.pid = pid;
  }
}
