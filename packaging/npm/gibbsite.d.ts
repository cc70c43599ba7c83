// SPDX-License-Identifier: Apache-2.0
/** What a run of the program leaves. */
export interface Result {
  /** exit status, as in gibbsite(1): 0 where the answer was written */
  status: number;
  /** standard output as text; an answer in a binary format needs `-o` */
  out: string;
  /** standard error: messages and the verdict */
  err: string;
  /** every file of the folder after the run: those that were given, and those that the program wrote */
  files: Record<string, Uint8Array>;
}

/**
 * Runs `gibbsite ARGS` over files in memory. The answer has the same bits as the program's on any machine.
 *
 * The call computes in the thread that calls it. To stop a run, call it in a Worker and terminate the worker.
 *
 * @param args arguments as they are typed: `['marginals', 'net.bif', '-e', 'fever=yes', '-o', 'answer.json']`
 * @param files files that the program may read, by name; nothing of the machine's disk can be seen
 * @param onLine is called with each line of standard error when it is written
 */
export function run(args: readonly string[], files?: Record<string, Uint8Array | string>, onLine?: (line: string) => void): Promise<Result>;
