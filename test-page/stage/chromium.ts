// Finds and starts a real Chromium.
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const USUAL_PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];

const path = process.env.CHROMIUM_PATH || USUAL_PLACES.find((candidate) => existsSync(candidate));

/** CI skips nothing: a missing browser is a failure there. */
export const skip =
  path || process.env.CI ? false : '*** no Chromium: install one, or set CHROMIUM_PATH; the page is NOT tested ***';

const DISABLED_FEATURES = [
  // WebUI pages for the address bar, loaded with every window although nobody sees them: the largest cost of a window.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  // This list replaces Playwright's: these features would contact other hosts or delay painting.
  'AimEnabled',
  'HttpsUpgrades',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
];

export function startChromium(): Promise<Browser> {
  if (!path) throw new Error('No Chromium was found; install one (apt-get install chromium), or set CHROMIUM_PATH.');
  return chromium.launch({
    executablePath: path,
    // The sandbox does not work for root, the usual user in containers.
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      `--disable-features=${DISABLED_FEATURES.join(',')}`,
    ],
  });
}
