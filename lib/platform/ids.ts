import { randomUUID } from 'node:crypto';

/** Fresh opaque ids; an argument everywhere else, so that tests can name them. */
export type NewId = () => string;

export const newId: NewId = () => randomUUID();
