/** How both ways of writing a post must read the answers of a real server that `test/real/answers.json` holds. */
export const READ_ALIKE = [
  { what: 'create without a token', reading: 'not_executed' },
  { what: 'create with a broken token', reading: 'not_executed' },
  { what: 'create with a token that ran out', reading: 'not_executed' },
  { what: 'create in the account of another', reading: 'not_executed' },
  { what: 'create in an account that is not here', reading: 'not_executed' },
  { what: 'create a post of 301 characters', reading: 'not_executed' },
  { what: 'create a post without its time', reading: 'not_executed' },
  { what: 'create with an image that was never uploaded', reading: 'not_executed' },
  { what: 'create the same under the same key', reading: 'unrecognised' },
  { what: 'create over the limit', reading: 'unrecognised' },
] as const;
