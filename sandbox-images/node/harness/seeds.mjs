/** Randomness that depends on the seed and the segment's name alone, and is the same in every language. */

/** Four 32-bit words from a text: FNV-1a over its UTF-8 bytes from four bases, each mixed as murmur3 ends. */
export function words(text) {
  const bytes = Buffer.from(text, 'utf8');
  const found = [];
  for (let lane = 0; lane < 4; lane++) {
    let h = 2166136261 ^ Math.imul(lane, 0x9e3779b9);
    for (const byte of bytes) h = Math.imul(h ^ byte, 16777619);
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    found.push((h ^ (h >>> 16)) >>> 0);
  }
  return found;
}

/** A function that draws numbers in [0, 1) of 53 bits: sfc32, seeded by `words(text)`. */
export function generator(text) {
  let [a, b, c, d] = words(text);
  const draw = () => {
    const t = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + t) | 0;
    return t >>> 0;
  };
  for (let i = 0; i < 15; i++) draw();
  return () => {
    const high = draw() >>> 5;
    return (high * 67108864 + (draw() >>> 6)) / 9007199254740992;
  };
}
