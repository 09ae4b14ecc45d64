// The command of a package that an install put in place.
import type { GappedText } from '../lib/secret-address.ts';
import type { InstalledPackage, Launch } from './launch.ts';

/** As it was for what runs no package, or a package of another kind. */
export function startInstalled(launch: Launch, installed: InstalledPackage): Launch {
  if (launch.kind !== 'command' || !launch.package) return launch;
  const isImage = launch.package.kind === 'oci';
  if (isImage !== (installed.kind === 'image')) return launch;
  const { args } = launch.package;
  if (installed.kind === 'program') return { ...launch, command: installed.path, args, isInTarget: true };
  // The image is the last word before its own arguments.
  const options = launch.args.slice(0, launch.args.length - args.length - 1);
  const image: GappedText = [installed.reference];
  return { ...launch, args: [...options, image, ...args] };
}
