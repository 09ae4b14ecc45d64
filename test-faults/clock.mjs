// Loaded before a hub: sets its clock ahead by the number of days in CLOCK_FILE, which may change at any time.
import { readFileSync } from 'node:fs';

const DAY_MS = 86_400_000;
const RealDate = Date;

function aheadMs() {
  try {
    return Number(readFileSync(process.env.CLOCK_FILE, 'utf8')) * DAY_MS;
  } catch {
    return 0;
  }
}

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + aheadMs());
    else super(...given);
  }

  static now() {
    return RealDate.now() + aheadMs();
  }
};
