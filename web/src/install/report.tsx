// The report of an install, and its lockfile.
import type { InstallReport } from '../../../src/install/contract.ts';
import { token } from '../api/token.ts';
import { CopyBox } from '../parts/copy-box.tsx';
import { Notice } from '../parts/notice.tsx';
import { takeFocus } from '../parts/take-focus.ts';
import { Account } from '../parts/token-form.tsx';
import { count } from '../parts/words.ts';
import { Steps } from './steps.tsx';
import { Warnings } from './warnings.tsx';

interface ReportProps {
  report: InstallReport;
  onAgain: () => void;
  onClose: () => void;
}

export function Report({ report, onAgain, onClose }: ReportProps) {
  const steps = report.results.map((result) => ({ step: result.step, startedAt: 0, result }));
  return (
    <>
      <div ref={takeFocus} tabIndex={-1}>
        <Outcome report={report} />
      </div>
      <Warnings warnings={report.warnings} />
      <p>
        In the folder <code>{report.target}</code> on the hub’s machine:
      </p>
      <Steps steps={steps} />
      {report.lockfile.entities.length > 0 && (
        <>
          <h3>hub.lock.json</h3>
          <CopyBox text={JSON.stringify(report.lockfile, null, 2)} label="the lockfile" />
        </>
      )}
      <div class="dialog-foot">
        <Account />
        {!report.ok && (
          <button type="button" class="button" onClick={onAgain}>
            Try again
          </button>
        )}
        {/* A new button takes the focus after signing out. */}
        <button key={token.value} ref={takeFocus} type="button" class="button button-main" onClick={onClose}>
          Done
        </button>
      </div>
    </>
  );
}

function Outcome({ report: { ok, files_written } }: { report: InstallReport }) {
  if (ok) return <Notice tone="good" title={`Installed; ${count(files_written.length, 'file')} written`} />;
  if (files_written.length > 0) {
    return (
      <Notice tone="bad" title="Not everything was installed">
        <p>The rest is in place. Fix the cause of the failed step, then try again.</p>
      </Notice>
    );
  }
  return (
    <Notice tone="bad" title="Nothing was installed">
      <p>If an earlier version is in the folder, it still works. Fix the cause of the failed step, then try again.</p>
    </Notice>
  );
}
