/** Is there a Java that can run DynamoDB Local? */
import { execFile } from 'node:child_process';
import { CannotStart } from './cannot-start.ts';

const OLDEST_JAVA = 17;

/** Refused with `CannotStart`, in one sentence with the way to get it, when `java` is missing or too old. */
export async function checkJava(java: string): Promise<void> {
  const found = await javaVersion(java);
  if (found !== null && found >= OLDEST_JAVA) return;
  const state = found === null ? 'was not found' : `only Java ${found} was found`;
  throw new CannotStart(
    `Java ${OLDEST_JAVA} or newer is needed for DynamoDB Local and ${state}; install it ` +
      `(Debian: apt-get install openjdk-17-jre-headless) and start again.`,
  );
}

/** Major version; null when there is no java that runs. Java 8 and older call themselves 1.x. */
function javaVersion(java: string): Promise<number | null> {
  return new Promise((done) => {
    execFile(java, ['-version'], { windowsHide: true }, (error, stdout, stderr) => {
      const found = /version "(?:1\.)?(\d+)/.exec(stderr + stdout);
      done(error !== null || found === null ? null : Number(found[1]));
    });
  });
}
