import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { gatewaysAsked } from './gateways.ts'

const KONTOR = fileURLToPath(new URL('../../../bin/kontor.js', import.meta.url))

/** The environment without the settings of whoever runs the tests. */
const cleanEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('KONTOR_')))

const QUIET = {
  KONTOR_PORT: '0',
  KONTOR_AGENTS: 'off',
  KONTOR_LOG: 'error',
  KONTOR_RATE_LIMITS: 'off',
  ...gatewaysAsked(),
}

/** The platform as a user runs it: a process of its own, which can be killed. */
export class PlatformProcess {
  readonly child: ChildProcess
  readonly exit: Promise<number | null>
  output = ''
  errors = ''
  url = ''
  private constructor(child: ChildProcess) {
    this.child = child
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.output += text))
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.errors += text))
    this.exit = once(child, 'exit').then(([code]) => code as number | null)
  }
  /** Not ready yet, perhaps never. */
  static launch(
    env: Record<string, string>,
    args: readonly string[] = ['start'],
    uid?: number,
  ): PlatformProcess {
    return new PlatformProcess(
      spawn(process.execPath, [KONTOR, ...args], {
        env: { ...cleanEnvironment(), ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
        ...(uid !== undefined && { uid }),
      }),
    )
  }
  static async start(env: Record<string, string>): Promise<PlatformProcess> {
    const platform = PlatformProcess.begin(env)
    await platform.ready()
    return platform
  }
  /** As `start`, not ready yet. */
  static begin(env: Record<string, string>): PlatformProcess {
    return PlatformProcess.launch({ ...QUIET, ...env })
  }
  /** A program of the tests that says when it is ready, as the platform does. */
  static async program(
    path: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<PlatformProcess> {
    const platform = new PlatformProcess(
      spawn(process.execPath, [path, ...args], {
        env: { ...cleanEnvironment(), ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    )
    await platform.ready()
    return platform
  }
  /** The same, after a line of shell that sets its limits. */
  static async limited(line: string, env: Record<string, string>): Promise<PlatformProcess> {
    const command = `${line}; exec "$@"`
    const platform = new PlatformProcess(
      spawn('/bin/sh', ['-c', command, 'sh', process.execPath, KONTOR, 'start'], {
        env: { ...cleanEnvironment(), ...QUIET, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    )
    await platform.ready()
    return platform
  }
  async ready(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        const match = /^kontor ready on (\S+)$/m.exec(this.output)
        if (match === null) return
        this.url = match[1]!
        resolve()
      }
      this.child.stdout!.on('data', look)
      void this.exit.then((code) => reject(new Error(`the platform ended with ${code}: ${this.errors}`)))
      look()
    })
  }
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    this.child.kill(signal)
    return this.exit
  }
}

/** Runs a command of the CLI to its end. */
export async function kontor(
  args: readonly string[],
  env: Record<string, string> = {},
  uid?: number,
): Promise<{ code: number | null; output: string; errors: string }> {
  const run = PlatformProcess.launch(env, args, uid)
  const code = await run.exit
  if (!run.child.stdout!.readableEnded) await once(run.child.stdout!, 'end')
  return { code, output: run.output, errors: run.errors }
}
