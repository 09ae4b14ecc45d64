// The state of the gateway. Tested once per visit, because that takes longer than checking the hub.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { hub } from '../../api/hub.ts';
import { asFailure } from '../../api/problem.ts';
import { mayAct, settings } from '../../api/settings.ts';
import { Tile } from './tile.tsx';
import { type GatewayTrial, gatewayTile } from './tile-words.ts';

const trial = signal<GatewayTrial>('not tried');

async function tryIt(): Promise<void> {
  trial.value = 'being tried';
  trial.value = await hub.diagnose().then(
    ({ gateway }) => gateway,
    (error) => ({ failure: asFailure(error) }),
  );
}

export function GatewayTile() {
  const known = settings.value;
  const mayTry = known?.gateway_configured === true && mayAct('operator');
  useEffect(() => {
    if (mayTry && trial.value === 'not tried') void tryIt();
  }, [mayTry]);
  const words = gatewayTile(known, mayTry ? trial.value : 'not tried');
  return (
    <Tile name="Gateway" {...words}>
      {mayTry && words.tone === 'bad' && (
        <>
          {' '}
          <button type="button" class="link-button" onClick={tryIt}>
            Try again
          </button>
        </>
      )}
    </Tile>
  );
}
