// What is not there, for `catch`: undefined instead of an error; any other error stays one.

export function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}
