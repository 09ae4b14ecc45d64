// The install operations of the hub. Their code is loaded by the first install.
import type { InstallListener, InstallReport, InstallRequest } from '../install/contract.ts';
import type { Install, InstallDependencies } from '../install/install.ts';

export interface HubInstalls {
  install(request: InstallRequest, onEvent?: InstallListener): Promise<InstallReport>;
  targetFolder(target: string): Promise<string>;
  /** Whether an install, not only a plan, is running. */
  isUnderWay(): boolean;
  /** Stops running installs and waits for them; no new one starts. */
  close(): Promise<void>;
}

export function createHubInstalls(dependencies: InstallDependencies): HubInstalls {
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
    async install(request, onEvent = () => {}) {
      if (request.dry_run) return (await installer()).install(request, onEvent);
      underWay += 1;
      try {
        return await (await installer()).install(request, onEvent);
      } finally {
        underWay -= 1;
      }
    },
    targetFolder: async (target) => (await installer()).folderOf(target),
    isUnderWay: () => underWay > 0,
    async close() {
      isClosed = true;
      await (await opened)?.close();
    },
  };
}
