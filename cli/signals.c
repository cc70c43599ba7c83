/* SPDX-License-Identifier: Apache-2.0 */
/* The first signal asks a run to stop and write what it has; the second is obeyed at once. */
#include <signal.h>
#include <unistd.h>

#include "job.h"

static volatile sig_atomic_t n_caught; /* a signal handler has no other place */

static void on_signal(int number)
{
    (void)number;
    if (n_caught > 0) {
        _exit(CLI_KILLED);
    }
    n_caught = 1;
}

void cli_signals_catch(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

int cli_signals_caught(void)
{
    return n_caught > 0;
}
