const SEGMENT = /^(?!\.{1,2}$)[a-z0-9._-]{1,250}$/;
const MOST = 512;

/** Throws when `key` is not `[a-z0-9._/-]`, longer than 512, or has a segment that is empty, dots or over 250 long. */
export function checkKey(key: string): void {
  if (key.length > MOST || !key.split('/').every((segment) => SEGMENT.test(segment))) {
    const shown = key.length > 80 ? `${key.slice(0, 80)}...` : key;
    throw new Error(
      `${JSON.stringify(shown)} is no key of an object: lower case letters, digits and . _ - between slashes, ` +
        `at most ${MOST} characters.`,
    );
  }
}
