// Waits until the browser has painted the first content.

/** A hidden tab draws nothing, so the wait is limited. */
const LONGEST_WAIT_MS = 150;

/** Waits two frames: when the second begins, the first is being painted. */
export function whenPainted(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)));
    setTimeout(resolve, LONGEST_WAIT_MS);
  });
}
