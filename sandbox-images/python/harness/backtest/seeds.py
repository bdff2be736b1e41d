"""Randomness that depends on the seed and the segment's name alone, and is the same in every language."""

MASK = 0xFFFFFFFF


def words(text):
    """Four 32-bit words from a text: FNV-1a over its UTF-8 bytes from four bases, each mixed as murmur3 ends."""
    found = []
    for lane in range(4):
        h = 2166136261 ^ (lane * 0x9E3779B9 & MASK)
        for byte in text.encode('utf-8', 'replace'):
            h = (h ^ byte) * 16777619 & MASK
        h = (h ^ h >> 16) * 0x85EBCA6B & MASK
        h = (h ^ h >> 13) * 0xC2B2AE35 & MASK
        found.append(h ^ h >> 16)
    return found


def generator(text):
    """A function that draws floats in [0, 1) of 53 bits: sfc32, seeded by `words(text)`."""
    a, b, c, d = words(text)

    def draw():
        nonlocal a, b, c, d
        t = (a + b + d) & MASK
        d = (d + 1) & MASK
        a = b ^ b >> 9
        b = (c + (c << 3)) & MASK
        c = ((c << 21 | c >> 11) + t) & MASK
        return t

    for _ in range(15):
        draw()

    def random():
        high = draw() >> 5
        return (high * 67108864 + (draw() >> 6)) / 9007199254740992

    return random


def seed_libraries(name, numpy):
    """Seeds `random` and, where the strategy uses it, numpy: both its legacy state and generators made without a seed."""
    import random

    random.seed(name + '/python')
    if numpy is None:
        return
    numpy.random.seed(words(name + '/numpy'))
    real = getattr(numpy.random.default_rng, 'real', numpy.random.default_rng)
    made = 0

    def default_rng(seed=None):
        nonlocal made
        if seed is None:
            made += 1
            seed = words(f'{name}/numpy/{made}')
        return real(seed)

    default_rng.real = real
    default_rng.__doc__ = real.__doc__
    numpy.random.default_rng = default_rng
