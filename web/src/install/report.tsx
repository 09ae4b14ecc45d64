// What an install has done, and its lockfile.
import type { InstallReport } from '../../../src/install/contract.ts';
import { forgetToken, token } from '../api/token.ts';
import { CopyBox } from '../parts/copy-box.tsx';
import { Notice } from '../parts/notice.tsx';
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
      {report.ok ? (
        <Notice tone="good" title={`Installed; ${count(report.files_written.length, 'file')} written`} />
      ) : (
        <Notice tone="bad" title="Not everything is in place">
          <p>The lockfile lists what is in place. Fix the cause, then try again: the install continues from there.</p>
        </Notice>
      )}
      <Warnings warnings={report.warnings} />
      <p>
        In the folder <code>{report.target}</code> on the hub’s machine:
      </p>
      <Steps steps={steps} />
      <h3>hub.lock.json</h3>
      <CopyBox text={JSON.stringify(report.lockfile, null, 2)} label="the lockfile" />
      <div class="dialog-foot">
        {token.value !== '' && (
          <button type="button" class="link-button" onClick={forgetToken}>
            Forget the token
          </button>
        )}
        {!report.ok && (
          <button type="button" class="button" onClick={onAgain}>
            Try again
          </button>
        )}
        <button type="button" class="button button-main" onClick={onClose}>
          Done
        </button>
      </div>
    </>
  );
}
