/* SPDX-License-Identifier: Apache-2.0 */
/* --checkpoint and --resume: one run in one file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job.h"
#include "ranks.h"
#include "shares.h"
#include "src/core/base/plural.h"

/* ---- one job at a time ----------------------------------------------------------------------- */

/* Whether the file that was locked still has its name: who had it before removes it at its end. */
static int has_name(int fd, const char *path)
{
    struct stat locked;
    struct stat named;
    return fstat(fd, &locked) == 0 && stat(path, &named) == 0 && locked.st_ino == named.st_ino &&
           locked.st_dev == named.st_dev;
}

/* @return a descriptor that has the lock; -1, with errno: there is none to be had. */
static int open_locked(const char *path)
{
    for (;;) {
        const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0) {
            return -1;
        }
        const int locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (locked && has_name(fd, path)) {
            return fd;
        }
        const int code = errno;
        (void)close(fd);
        if (!locked && code != EINTR) {
            errno = code;
            return -1;
        }
    }
}

int cli_lock_checkpoint(const cli_arguments *arguments, cli_lock *lock)
{
    const char *file = arguments->checkpoint;
    *lock = (cli_lock){.path = NULL};
    if (file == NULL || !cli_speaks()) {
        return CLI_DONE;
    }
    const size_t size = strlen(file) + sizeof ".lock";
    lock->path = malloc(size);
    CLI_PASS(CLI_HAVE(lock->path));
    (void)snprintf(lock->path, size, "%s.lock", file);
    lock->fd = open_locked(lock->path);
    if (lock->fd >= 0) {
        return CLI_DONE;
    }
    const int code = errno;
    free(lock->path);
    lock->path = NULL;
    if (code == EWOULDBLOCK) {
        return cli_error(CLI_FAILED,
                         "--checkpoint %s: another run that is at work writes this file: name "
                         "another one, or wait for that run to end",
                         file);
    }
    if (code == ENOLCK || code == EOPNOTSUPP || code == ENOSYS || code == EINVAL) {
        cli_note(arguments,
                 "warning: --checkpoint %s: this file system has no locks (%s): see to it that no "
                 "other run writes the file",
                 file, strerror(code)); // NOLINT(concurrency-mt-unsafe): one thread
    }
    return CLI_DONE; /* where the file cannot be made, neither can the checkpoint, which says so */
}

void cli_unlock(cli_lock *lock)
{
    if (lock->path != NULL) {
        (void)unlink(lock->path);
        (void)close(lock->fd);
        free(lock->path);
        lock->path = NULL;
    }
}

/* ---- what was typed -------------------------------------------------------------------------- */

/* Refuses requests that a checkpoint, which holds one run and the data that it keeps itself,
 * cannot serve. */
static int check_request(const cli_arguments *arguments)
{
    const char *given = arguments->resume != NULL ? "resume" : "checkpoint";
    const int kept = arguments->resume != NULL || arguments->checkpoint != NULL;
    if (kept && arguments->cases != NULL) {
        return cli_error(CLI_USAGE, "--%s: the answers to --cases cannot be kept in a checkpoint",
                         given);
    }
    return CLI_DONE;
}

/* Reports a failure to resume: a checkpoint that does not fit is bad input. */
static int fail_resumed(gbs_status done, const gbs_error *err)
{
    const int status = cli_fail_input(done, err);
    return status == CLI_USAGE ? CLI_INPUT : status;
}

/* Takes the options of the checkpoint, except those that were typed. */
static int take_options(cli_arguments *arguments)
{
    gbs_error err = {GBS_OK, ""};
    gbs_run_options before = gbs_run_options_default();
    gbs_status status = gbs_checkpoint_options(arguments->resume, &before, &err);
    if (status < 0) {
        return fail_resumed(status, &err);
    }
    for (size_t i = 0; i < gbs_option_count(); i++) {
        char text[64];
        const char *name = gbs_option_at(i)->name;
        if (cli_given(arguments, name)) {
            continue;
        }
        if (strcmp(name, "scan") == 0 && before.scan == GBS_SCAN_SEQUENCE) {
            if (arguments->n_operands > 0 && cli_is_divided(arguments->operand[0])) {
                continue; /* the shares have read it */
            }
            return cli_error(CLI_USAGE,
                             "--resume %s: the run had a scan file; name it: --scan FILE",
                             arguments->resume);
        }
        status = gbs_option_get(&before, name, text, sizeof text, &err);
        if (status >= 0) {
            status = gbs_option_set(&arguments->run, name, text, &err);
        }
        if (status < 0) {
            return fail_resumed(status, &err);
        }
    }
    return CLI_DONE;
}

int cli_settle_checkpoints(cli_arguments *arguments)
{
    const int status = check_request(arguments);
    return status == CLI_DONE && arguments->resume != NULL ? take_options(arguments) : status;
}

int cli_fail_call(const gbs_checkpoint_files *files, gbs_status done, const gbs_error *err)
{
    /* options alone were typed once before */
    const int foreign = files->resume != NULL && done == GBS_ERR_ARGUMENT;
    return foreign ? fail_resumed(done, err) : cli_fail(done, err);
}

int cli_begin_checkpoints(const cli_job *job, int draws)
{
    const cli_arguments *arguments = job->arguments;
    gbs_error err = {GBS_OK, ""};
    if (arguments->resume == NULL && arguments->checkpoint == NULL) {
        return CLI_DONE;
    }
    if (job->n_samples > 1 && !cli_given(arguments, "evidence-index")) {
        return cli_error(CLI_USAGE,
                         "--%s: a checkpoint is of one run, and the evidence has %zu sample%s; "
                         "choose one with --evidence-index",
                         arguments->resume != NULL ? "resume" : "checkpoint", job->n_samples,
                         gbsi_plural(job->n_samples));
    }
    if (draws && gbs_run_keep_draws(job->run, job->drawn, job->n_drawn, &err) < 0) {
        return cli_fail(err.status, &err);
    }
    if (arguments->resume != NULL && gbs_run_resume(job->run, arguments->resume, &err) != GBS_OK) {
        return fail_resumed(err.status, &err);
    }
    if (arguments->checkpoint != NULL) {
        const gbs_status status = gbs_run_checkpoint(job->run, arguments->checkpoint, &err);
        return status < 0 ? cli_fail(status, &err) : CLI_DONE;
    }
    return CLI_DONE;
}
