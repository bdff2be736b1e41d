import { Command, InvalidArgumentError, Option } from 'commander';

const WHICH_DATABASE = `
The database is that of DATABASE_URL, else the embedded one in BACKTEST_DATA,
while no backtest serve uses it.`;

/** The command line: every command, option and help text. What a command does is loaded when it is called. */
export const program = new Command('backtest')
  .description('Backtests trading strategies for prediction markets on recorded ticks.')
  .option('--debug', 'show where in this program an error came from')
  .helpCommand(false)
  .exitOverride()
  .addHelpText(
    'after',
    `
A first backtest, with data that comes along:
  $ npm run demo

One of your own:
  $ npx backtest init my-strategy --language python
  $ npx backtest check my-strategy
  $ npx backtest run my-strategy --archive fixtures/archive/synthetic --days 1

Exit codes: 0 done, 1 refused before anything ran, 2 the strategy failed,
3 not the strategy's fault (no Docker, a full disk, a damaged archive),
130 stopped with Ctrl-C.`,
  );

command('run <dir>', 'replay an archive into the strategy in DIR and write a report')
  .option(
    '--archive <folder>',
    'the archive of recorded ticks: a folder, or an http(s) address; always needed',
  )
  .addOption(venue())
  .addOption(assets())
  .addOption(from())
  .addOption(to())
  .addOption(days())
  .option('--out <folder>', 'where the report goes (default: out/ and the name of the strategy)')
  .addOption(sandbox())
  .option('--seed <n>', "the seed of the strategy's random numbers, instead of the manifest's", wholeNumber)
  .option(
    '--lockstep',
    'hold every tick back until the strategy has answered the one before; slow, same result',
  )
  .option('--json', 'print the result as one JSON object')
  .addHelpText(
    'after',
    `
Examples:
  $ npx backtest run my-strategy --archive fixtures/archive/synthetic --days 1
  $ npx backtest run my-strategy --archive ~/ticks --venue venue_b --assets BTC,ETH --from 2026-10-01 --to 2026-10-07
  $ npx backtest run my-strategy --archive ~/ticks --days 7 --sandbox process --json > result.json

A sweep writes one report for each cell, to OUT/cells/.`,
  )
  .action(async (dir, options, self) => {
    demand(self, '--archive');
    await (await import('./run.ts')).runCommand(dir, options);
  });

command(
  'check <dir>',
  'find mistakes in the strategy in DIR without running it, and say what a run would cover',
)
  .option('--archive <folder>', 'also look up which market-days of this archive a run would cover')
  .addOption(venue())
  .addOption(assets())
  .addOption(from())
  .addOption(to())
  .addOption(days())
  .option('--json', 'print the result as one JSON object')
  .addHelpText(
    'after',
    `
Examples:
  $ npx backtest check my-strategy
  $ npx backtest check my-strategy --archive fixtures/archive/synthetic --days 2`,
  )
  .action(async (dir, options) => (await import('./check.ts')).checkCommand(dir, options));

command('submit <dir>', 'run the strategy in DIR on a server')
  .addOption(venue())
  .addOption(assets())
  .addOption(from())
  .addOption(to())
  .addOption(days())
  .option('--email <address>', 'to whom the server may write of this run')
  .addOption(new Option('--locale <locale>', 'in which language').choices(['en', 'zh']))
  .addOption(server())
  .addOption(key())
  .option('--yes', 'spend the credits without asking; needed where there is no terminal')
  .option('--watch', 'show how far it is until it is over')
  .option('--out <folder>', 'with --watch: fetch the report into this folder')
  .option('--json', 'print the answer as one JSON object')
  .addHelpText(
    'after',
    `
Examples:
  $ npx backtest submit my-strategy --days 1 --watch
  $ npx backtest submit my-strategy --assets BTC,ETH --days 7 --yes --json

The price is shown before anything is submitted. Exit codes with --watch are
those of run; a sweep of which some cells failed is done.`,
  )
  .action(async (dir, options) => (await import('./submit.ts')).submitCommand(dir, options));

command('status [run]', 'what became of a run on a server, or of all of yours')
  .addOption(server())
  .addOption(key())
  .option('--watch', 'show how far it is until it is over')
  .option('--json', 'print the answer as one JSON object')
  .addHelpText(
    'after',
    `
Examples:
  $ npx backtest status
  $ npx backtest status run_0123456789abcdef01234567 --watch`,
  )
  .action(async (run, options) => (await import('./status.ts')).statusCommand(run, options));

command('balance', 'your credits on a server, and what was booked last')
  .addOption(server())
  .addOption(key())
  .option('--json', 'print the answer as one JSON object')
  .action(async (options) => (await import('./balance.ts')).balanceCommand(options));

command('fetch <run>', 'download the report of a run on a server, and verify it')
  .addOption(server())
  .addOption(key())
  .option('--out <file>', 'where it goes (default: out/RUN.zip)')
  .addHelpText(
    'after',
    `
Example:
  $ npx backtest fetch run_0123456789abcdef01234567

Where it was interrupted, the same command goes on.`,
  )
  .action(async (run, options) => (await import('./fetch.ts')).fetchCommand(run, options));

command('serve', 'be a server: take runs over HTTP and work at them, on this machine alone')
  .option('--archive <folder>', 'the archive of recorded ticks (default: the generated one that comes along)')
  .option('--host <address>', 'where to listen (default: 127.0.0.1, for this machine only)')
  .option('--port <n>', 'where to listen (default: 8080)', wholeNumber)
  .option(
    '--data <folder>',
    'where database, objects and key are kept (default: ~/.local/share/backtest-fleet)',
  )
  .option('--slots <n>', 'how much it works at side by side (default: one for each core)', wholeNumber)
  .addOption(sandbox())
  .addHelpText(
    'after',
    `
Examples:
  $ npx backtest serve
  $ npx backtest serve --archive ~/ticks --port 9000 --data ~/backtests

The first start makes a customer, local, with 1000 credits, and a key. For more,
stop it: npx backtest credits grant local 500

Ctrl-C stops when what runs is finished or handed back; what is not goes on with
the next start.`,
  )
  .action(async (options) => (await import('./serve.ts')).serve(options));

command('init <dir>', 'start a new strategy in DIR')
  .addOption(
    new Option('--language <language>', 'what to write it in; always needed').choices(['python', 'node']),
  )
  .addHelpText(
    'after',
    `
Example:
  $ npx backtest init my-strategy --language python`,
  )
  .action(async (dir, options, self) => {
    demand(self, '--language');
    await (await import('./start.ts')).start(dir, options);
  });

command('demo', 'run the example strategies over the data that comes along')
  .addOption(sandbox())
  .action(async (options) => (await import('./demo.ts')).demo(options));

command('doctor', 'say what this machine has and lacks to run backtests, and how to mend it')
  .option('--json', 'print the result as one JSON object')
  .action(async (options) => (await import('./doctor.ts')).doctor(options));

command('images', 'the container images that strategies run in')
  .command('build')
  .description('build them; takes some minutes the first time')
  .action(async () => (await import('./images.ts')).buildAll());

command('archive', 'archives of recorded ticks')
  .command('index <dir>')
  .description('write the index.json of each day folder in the archive at DIR, after its files have changed')
  .addHelpText(
    'after',
    `
The archive holds {venue}/{date}/ folders of files such as
BTCUSD-book-5m-2026-10-14.csv.gz.

Example:
  $ npx backtest archive index ~/ticks`,
  )
  .action(async (dir) => (await import('./archive.ts')).indexFolder(dir));

const credits = command('credits', "customers' credits, in the database of a server");
credits
  .command('grant <customer>')
  .description('give credits to the customer of that name, who is made if need be')
  .argument('<amount>', 'how many', wholeNumber)
  .option('--id <id>', 'names this grant: the same one again changes nothing')
  .option('--json', 'print the answer as one JSON object')
  .addHelpText('after', WHICH_DATABASE)
  .action(async (customer, amount, options) =>
    (await import('./credits.ts')).grantCredits(customer, amount, options),
  );
credits
  .command('audit')
  .description(
    'check from the first transfer on that all credits and runs add up; exit code 1 where they do not',
  )
  .option('--json', 'print the answer as one JSON object')
  .addHelpText('after', WHICH_DATABASE)
  .action(async (options) => (await import('./credits.ts')).auditCredits(options));

const keys = command('keys', "customers' keys, in the database of a server");
keys
  .command('create <customer>')
  .description('make a key and print it; it is not shown again')
  .option('--expires <days>', 'for how long it is good (default: until it is revoked)', wholeNumber)
  .option('--json', 'print the answer as one JSON object')
  .addHelpText('after', WHICH_DATABASE)
  .action(async (customer, options) => (await import('./keys.ts')).addKey(customer, options));
keys
  .command('revoke <key>')
  .description('end a key, by its id or itself')
  .option('--json', 'print the answer as one JSON object')
  .addHelpText('after', WHICH_DATABASE)
  .action(async (key, options) => (await import('./keys.ts')).endKey(key, options));
keys
  .command('list')
  .description('show all keys by their ids, never themselves')
  .option('--json', 'print the answer as one JSON object')
  .addHelpText('after', WHICH_DATABASE)
  .action(async (options) => (await import('./keys.ts')).showKeys(options));

function command(name: string, description: string): Command {
  const made = program.command(name).description(description).helpCommand(false);
  return made.showHelpAfterError(`For an example: npx backtest ${made.name()} --help`);
}

/** Not commander's own way: that one would not tell a misspelt option from a missing one. */
function demand(self: Command, flag: string): void {
  if (self.getOptionValue(flag.slice(2)) === undefined) self.error(`error: ${flag} is missing`);
}

function venue(): Option {
  return new Option('--venue <venue>', 'whose markets').choices(['venue_a', 'venue_b']).default('venue_a');
}

function assets(): Option {
  const split = (text: string): string[] => text.split(',').map((asset) => asset.trim().toUpperCase());
  return new Option('--assets <list>', 'such as BTC,ETH (default: all that the archive has)').argParser(
    split,
  );
}

function from(): Option {
  return new Option('--from <day>', 'first UTC day, YYYY-MM-DD');
}

function to(): Option {
  return new Option('--to <day>', 'last UTC day, YYYY-MM-DD');
}

function days(): Option {
  return new Option('--days <n>', 'the newest N days of the archive, instead of --from and --to')
    .argParser(wholeNumber)
    .conflicts(['from', 'to']);
}

function server(): Option {
  return new Option('--server <url>', 'its address (default: BACKTEST_SERVER)');
}

function key(): Option {
  return new Option(
    '--key <key>',
    'your key there (default: BACKTEST_KEY, which no list of processes shows)',
  );
}

function sandbox(): Option {
  return new Option(
    '--sandbox <kind>',
    'docker: a locked-down container; process: no protection, for your own code only',
  )
    .choices(['docker', 'process'])
    .default('docker');
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(number))
    throw new InvalidArgumentError('Give a whole number.');
  return number;
}
