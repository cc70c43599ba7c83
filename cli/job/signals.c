/* SPDX-License-Identifier: Apache-2.0 */
/* Before a run, a signal ends the program, because no results exist yet. During a run, the first
 * signal asks the run to stop and write its results. The second signal ends the program at once. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "job.h"

/* Opens /dev/null in place of standard streams that are closed when the program starts. Standard
 * input is opened only for writing, and the other streams only for reading, so that their use still
 * fails. Files that are opened later then cannot get the descriptors 0 to 2. Otherwise, messages
 * could be written into a result. */
void cli_open_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

static volatile sig_atomic_t n_caught; /* number of signals caught; static, because signal handlers
                                          have no context argument */

static void stop_the_run(int number)
{
    (void)number;
    if (n_caught > 0) {
        _exit(CLI_KILLED);
    }
    n_caught = 1;
}

/* Ends the program. Unfinished files have no name yet and disappear with the process. */
static void end_the_program(int number)
{
    static const char message[] = "gibbsite: stopped by a signal\n";
    (void)number;
    (void)!write(STDERR_FILENO, message, sizeof message - 1);
    _exit(CLI_STOPPED);
}

/* Handles SIGBUS, which arrives if another program has truncated the mapped file of a large model.
 * No other file is mapped. If the signal has another cause, the handler restores the default
 * action, and the signal arrives again when the handler returns. */
static void end_for_a_cut_file(int number, siginfo_t *info, void *context)
{
    static const char message[] = "gibbsite: the file of the model became shorter while it was in "
                                  "use: work on a copy of it\n";
    (void)context;
    if (info->si_code != BUS_ADRERR) {
        (void)signal(number, SIG_DFL);
        return;
    }
    (void)!write(STDERR_FILENO, message, sizeof message - 1);
    _exit(CLI_INPUT);
}

/* Sets the handler of signals. Signals that the caller ignores, as nohup does, stay ignored. */
static void handle(void (*handler)(int))
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct sigaction before;
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            (void)sigaction(signals[i], &action, NULL);
        }
    }
}

static volatile sig_atomic_t n_asked;

static void note_question(int number)
{
    (void)number;
    n_asked = 1;
}

void cli_signals_tell(void)
{
    struct sigaction action = {.sa_handler = note_question, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGUSR1, &action, NULL);
}

int cli_signals_asked(void)
{
    const int asked = n_asked;
    n_asked = 0;
    return asked;
}

void cli_signals_end(void)
{
    struct sigaction action = {.sa_sigaction = end_for_a_cut_file, .sa_flags = SA_SIGINFO};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGBUS, &action, NULL);
    handle(end_the_program);
}

void cli_signals_catch(void)
{
    handle(stop_the_run);
}

int cli_signals_caught(void)
{
    return n_caught > 0;
}
