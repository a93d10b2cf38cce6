/** What is asked of a PDS so that its answers are on file, in this order: each row stands on those before it. */
import { createHmac } from 'node:crypto';
import { POSTS, SECRETS } from './ground.ts';
import { keyOf, postOf, writeOf } from './posts.ts';
import type { RealPds } from './real-pds.ts';
import type { Call } from './xrpc.ts';

/** What is asked, in words, and how. */
export type Asked = readonly [what: string, call: Call];

const CREATE = 'com.atproto.repo.createRecord';
const PUT = 'com.atproto.repo.putRecord';
const GET = 'com.atproto.repo.getRecord';
const LIST = 'com.atproto.repo.listRecords';
const SIGN_IN = 'com.atproto.server.createSession';
const KEY = keyOf(1);
const SWAPPED_KEY = keyOf(2);
const MINIMAL_PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
/** Of the image above, as the server computes it. */
const PNG_CID = 'bafkreidlp6sdj6jkroakvmbntpy2clsj77foijheae5byt3iwz7d2k542a';
const OTHER_CID = 'bafyreifepiu23okq5zuyvyhsoiazv2icw2van3s7ko6d3ixl5jx2yj2yhu';
const NOBODY = 'did:plc:nobodyaaaaaaaaaaaaaaaaaa';

export function everythingAsked({ alice, bob }: RealPds): readonly Asked[] {
  const token = alice.accessToken;
  const create = (rkey: string, text: string, more: object = {}): Call => {
    return { nsid: CREATE, token, input: { ...writeOf(alice, rkey, text), ...more } };
  };
  const put = (rkey: string, text: string, more: object = {}): Call => {
    return { nsid: PUT, token, input: { ...writeOf(alice, rkey, text), ...more } };
  };
  const record = (text: string, more: object) => ({ record: { ...postOf(text), ...more } });
  const remove = (rkey: string): Call => {
    return {
      nsid: 'com.atproto.repo.deleteRecord',
      token,
      input: { repo: alice.did, collection: POSTS, rkey },
    };
  };
  const get = (rkey: string, more: Record<string, string> = {}): Call => {
    return { nsid: GET, params: { repo: alice.did, collection: POSTS, rkey, ...more } };
  };
  const list = (more: Record<string, string>): Call => {
    return { nsid: LIST, params: { repo: alice.did, collection: POSTS, ...more } };
  };
  const image = (cid: string) => {
    const blob = { $type: 'blob', ref: { $link: cid }, mimeType: 'image/png', size: MINIMAL_PNG.length };
    return record('image', {
      embed: { $type: 'app.bsky.embed.images', images: [{ alt: 'a dot', image: blob }] },
    });
  };
  const parent = { uri: `at://${NOBODY}/${POSTS}/${KEY}`, cid: OTHER_CID };
  const upload: Call = {
    nsid: 'com.atproto.repo.uploadBlob',
    token,
    bytes: { type: 'image/png', content: new Uint8Array(MINIMAL_PNG) },
  };
  return [
    ['sign in with an app password', signIn(alice.handle, alice.appPassword)],
    ['sign in with a wrong password', signIn(alice.handle, 'wrong')],
    ['sign in as nobody', signIn('nobody.test', 'wrong')],

    ['create under a key of ours', create(KEY, 'first')],
    ['create the same under the same key', create(KEY, 'first')],
    ['create another text under the same key', create(KEY, 'second')],
    ['create under a key that is no TID', create('int_37', 'no TID')],
    ['create under a key that no record may have', create('a/b', 'no key')],
    ['create a post of 301 characters', create(keyOf(3), 'x'.repeat(301))],
    ['create a post without its time', create(keyOf(3), '', { record: { $type: POSTS, text: 'no time' } })],
    ['create in a collection that the server does not know', create(keyOf(3), '', unknownKind('no check'))],
    ['the same, to be checked', create(keyOf(4), '', { ...unknownKind('check'), validate: true })],
    ['create in the account of another', { ...create(keyOf(3), 'other'), token: bob.accessToken }],
    ['create in an account that is not here', create(keyOf(3), 'nobody', { repo: NOBODY })],
    ['create without a token', { nsid: CREATE, input: writeOf(alice, keyOf(3), 'no token') }],
    ['create with a broken token', { ...create(keyOf(3), 'broken'), token: 'broken' }],
    ['create with a token that ran out', { ...create(keyOf(3), 'late'), token: ranOut(token) }],
    ['create on a repository that has moved on', create(keyOf(3), 'moved', { swapCommit: OTHER_CID })],
    ['create a reply to a parent that does not exist', create(keyOf(3), '', record('reply', reply(parent)))],

    ['create with an image that was never uploaded', create(keyOf(5), '', image(PNG_CID))],
    ['upload the image', upload],
    ['upload the image again', upload],
    ['create with the image', create(keyOf(5), '', image(PNG_CID))],

    ['put the same again', put(KEY, 'first')],
    ['put what must be new, and it is', put(SWAPPED_KEY, 'new', { swapRecord: null })],
    ['put what must be new, and the same is there', put(SWAPPED_KEY, 'new', { swapRecord: null })],
    ['put what must be new, and another is there', put(SWAPPED_KEY, 'newer', { swapRecord: null })],
    ['put over a record that is not the one we think', put(KEY, 'third', { swapRecord: OTHER_CID })],
    ['put another text with no condition', put(SWAPPED_KEY, 'overwritten')],
    [
      'apply a create under a key that is taken',
      {
        nsid: 'com.atproto.repo.applyWrites',
        token,
        input: {
          repo: alice.did,
          writes: [
            {
              $type: 'com.atproto.repo.applyWrites#create',
              collection: POSTS,
              rkey: KEY,
              value: postOf('first'),
            },
          ],
        },
      },
    ],

    ['get a record', get(KEY)],
    ['get a record that is not there', get(keyOf(9))],
    ['get a record under another cid', get(KEY, { cid: OTHER_CID })],
    ['get a record of nobody', get(KEY, { repo: NOBODY })],
    ['list the newest', list({ limit: '1' })],
    ['list the oldest', list({ limit: '1', reverse: 'true' })],
    ['list after the last', list({ cursor: KEY })],
    ['list too many', list({ limit: '101' })],
    ['list a collection with nothing in it', list({ collection: 'app.bsky.feed.like' })],
    ['list the records of nobody', list({ repo: NOBODY })],
    ['resolve a handle', resolve(alice.handle)],
    ['resolve a handle of nobody', resolve('nobody.test')],

    ['delete a record', remove(KEY)],
    ['delete it again', remove(KEY)],
    ['create under the key of a deleted record', create(KEY, 'first')],
    ['call what is no method', { nsid: 'com.example.nothing', token }],
    ['ask for a view', { nsid: 'app.bsky.feed.getAuthorFeed', token, params: { actor: alice.did } }],
  ];
}

/** Once the points of the hour are used up. */
export function askedOverTheLimit({ alice }: RealPds): readonly Asked[] {
  const token = alice.accessToken;
  return [
    ['create over the limit', { nsid: CREATE, token, input: writeOf(alice, KEY, 'one too many') }],
    [
      'get a record over the limit of writes',
      { nsid: GET, params: { repo: alice.did, collection: POSTS, rkey: KEY } },
    ],
  ];
}

function signIn(identifier: string, password: string): Call {
  return { nsid: SIGN_IN, input: { identifier, password } };
}

function resolve(handle: string): Call {
  return { nsid: 'com.atproto.identity.resolveHandle', params: { handle } };
}

function unknownKind(text: string): object {
  return { collection: 'com.example.note', record: { $type: 'com.example.note', text } };
}

function reply(parent: object): object {
  return { reply: { root: parent, parent } };
}

/** The same token, signed by the server's own secret, as of the year 2001. */
function ranOut(token: string): string {
  const [head = '', claims = ''] = token.split('.');
  const old = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), iat: 1e9, exp: 1e9 + 60 };
  const signed = `${head}.${Buffer.from(JSON.stringify(old)).toString('base64url')}`;
  return `${signed}.${createHmac('sha256', SECRETS.jwtSecret).update(signed).digest('base64url')}`;
}
