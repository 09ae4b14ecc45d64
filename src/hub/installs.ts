// The install operations of the hub. Their code is loaded by the first install.
import type { InstallListener, InstallReport, InstallRequest } from '../install/contract.ts';
import type { Install, InstallDependencies } from '../install/install.ts';

export type HubInstalls = ReturnType<typeof createHubInstalls>;

export function createHubInstalls(dependencies: InstallDependencies) {
  let opened: Promise<Install> | undefined;
  let underWay = 0;
  let isClosed = false;

  // Loaded on demand, which keeps startup fast.
  async function open(): Promise<Install> {
    const { createInstall } = await import('../install/install.ts');
    const installer = createInstall(dependencies);
    // The hub may have been closed meanwhile.
    if (isClosed) await installer.close();
    return installer;
  }

  function installer(): Promise<Install> {
    opened ??= open();
    return opened;
  }

  return {
    async install(request: InstallRequest, onEvent: InstallListener = () => {}): Promise<InstallReport> {
      if (request.dry_run) return (await installer()).install(request, onEvent);
      underWay += 1;
      try {
        return await (await installer()).install(request, onEvent);
      } finally {
        underWay -= 1;
      }
    },
    targetFolder: async (target: string) => (await installer()).folderOf(target),
    /** Whether an install, not only a plan, is running. */
    isUnderWay: () => underWay > 0,
    /** Stops running installs and waits for them; no new one starts. */
    async close() {
      isClosed = true;
      await (await opened)?.close();
    },
  };
}
