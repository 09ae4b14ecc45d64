// Waits until the browser has painted the first content.

/** A tab that is out of sight draws nothing, and still goes on. */
const LONGEST_WAIT_MS = 150;

/** Two frames: when the second one begins, the first is on its way to the screen. */
export function whenDrawn(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)));
    setTimeout(resolve, LONGEST_WAIT_MS);
  });
}
