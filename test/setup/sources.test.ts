import { expect, test } from 'vitest';
import { debianMirror, parseListSources, parseStanzaSources } from '../../src/sandbox/debian.ts';

test('one-line sources give address, suite and components, with and without options in brackets', () => {
  const text = [
    'deb http://mirror.example/debian bookworm main contrib # home',
    'deb [arch=amd64 signed-by=/usr/share/keyrings/a.gpg] https://tools.example/apt stable main',
    '# deb http://old.example/debian bookworm main',
    'deb-src http://mirror.example/debian bookworm main',
    '',
  ].join('\n');
  expect(parseListSources(text)).toEqual([
    { uris: ['http://mirror.example/debian'], suites: ['bookworm'], components: ['main', 'contrib'] },
    { uris: ['https://tools.example/apt'], suites: ['stable'], components: ['main'] },
  ]);
});

test('deb822 sources are read through comments, folded lines and disabled stanzas', () => {
  const text = [
    'Types: deb deb-src',
    'URIs: http://mirror.example/debian',
    '# http://frozen.example/debian',
    ' http://spare.example/debian',
    'Suites: bookworm bookworm-updates',
    'Components: main',
    '',
    'Types: deb',
    'Enabled: no',
    'URIs: http://off.example/debian',
    'Suites: bookworm',
    'Components: main',
    '',
    'Types: deb-src',
    'URIs: http://source.example/debian',
    'Suites: bookworm',
    'Components: main',
  ].join('\n');
  expect(parseStanzaSources(text)).toEqual([
    {
      uris: ['http://mirror.example/debian', 'http://spare.example/debian'],
      suites: ['bookworm', 'bookworm-updates'],
      components: ['main'],
    },
  ]);
});

test("the mirror is where the machine's own release comes from, not a vendor's or the security archive", () => {
  const sources = [
    { uris: ['https://tools.example/apt'], suites: ['stable'], components: ['main'] },
    { uris: ['http://security.example/debian'], suites: ['bookworm-security'], components: ['main'] },
    { uris: ['http://extra.example/debian'], suites: ['bookworm'], components: ['contrib'] },
    {
      uris: ['http://mirror.example/debian'],
      suites: ['bookworm-updates', 'bookworm'],
      components: ['main'],
    },
  ];
  expect(debianMirror(sources, 'bookworm')).toBe('http://mirror.example/debian');
  expect(debianMirror(sources, 'trixie')).toBeNull();
});
