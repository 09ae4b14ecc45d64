// `hub completion`.
import { command } from '../command.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export const completionCommands = [
  command({
    path: ['completion'],
    summary: 'print what a shell needs in order to complete commands and options',
    kind: 'plain',
    args: [{ name: '<shell>', description: 'which shell', choices: SHELLS }],
    options: {},
    examples: [
      ['source <(hub completion bash)', 'in ~/.bashrc'],
      ['source <(hub completion zsh)', 'in ~/.zshrc, after compinit'],
      ['hub completion fish > ~/.config/fish/completions/hub.fish', ''],
    ],
    async run({ args: [shell], table, terminal }) {
      const scripts: Record<string, () => Promise<string>> = {
        bash: async () => (await import('../completion/bash.ts')).bashCompletion(table),
        zsh: async () => (await import('../completion/zsh.ts')).zshCompletion(table),
        fish: async () => (await import('../completion/fish.ts')).fishCompletion(table),
      };
      terminal.write((await scripts[shell ?? '']?.()) ?? '');
      return 'ok';
    },
  }),
];
