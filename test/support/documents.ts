/** Reading our own documents: their fenced blocks, their links, and the answers that they show. */

export interface Fence {
  /** What stands after the opening backticks. */
  readonly info: string;
  readonly text: string;
}

export function fencesOf(markdown: string): Fence[] {
  return [...markdown.matchAll(/^```([^\n]*)\n(.*?)^```$/gms)].map(([, info = '', text = '']) => ({
    info,
    text,
  }));
}

/** Targets of links, fenced blocks left out. */
export function linksOf(markdown: string): string[] {
  const prose = markdown.replace(/^```.*?^```$/gms, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}

/** Whether `answer` is what is shown: member for member, where … stands for anything, and as a name for more members. */
export function matches(shown: unknown, answer: unknown): boolean {
  if (shown === '…') return true;
  if (typeof shown === 'string') return typeof answer === 'string' && textMatches(shown, answer);
  if (shown === null || typeof shown !== 'object') return shown === answer;
  if (answer === null || typeof answer !== 'object' || Array.isArray(shown) !== Array.isArray(answer)) {
    return false;
  }
  const more = Object.hasOwn(shown, '…');
  const names = new Set([...Object.keys(shown), ...(more ? [] : Object.keys(answer))]);
  names.delete('…');
  return [...names].every((name) => {
    const both = Object.hasOwn(shown, name) && Object.hasOwn(answer, name);
    return both && matches(Reflect.get(shown, name), Reflect.get(answer, name));
  });
}

/** Whether `answer` is the text shown, where … stands for anything. */
export function textMatches(shown: string, answer: string): boolean {
  const parts = shown.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(answer);
}
