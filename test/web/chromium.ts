// A real Chromium: where it is, and how it is started.
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

const path = process.env.CHROMIUM_PATH || USUAL_PLACES.find((place) => existsSync(place));

/** In CI nothing is skipped: there a missing browser is a failure. */
export const skip =
  path || process.env.CI ? false : '*** no Chromium: install one, or set CHROMIUM_PATH; the page is NOT tested ***';

const DISABLED_FEATURES = [
  // Pages of their own, loaded for the address bar of every window, which nobody sees here: most of what a window costs.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  // This list replaces Playwright's: these would send requests to strangers, or hide what is drawn.
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
    // Its sandbox does not work for root, who runs most containers.
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
