/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the program on standard error, and the exit statuses that go with them. */
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "job/ranks.h"

enum { MOST_TEXT = 8192 };

static void say(const char *format, va_list list)
{
    char text[MOST_TEXT];
    char seen[MOST_TEXT];
    (void)vsnprintf(text, sizeof text, format, list);
    (void)fprintf(stderr, "%s: %s\n", cli_here.program, cli_seen(text, seen, sizeof seen));
}

int cli_error(int status, const char *format, ...)
{
    char text[2048];
    va_list list;
    va_start(list, format);
    if (cli_here.ranks != NULL) {
        (void)vsnprintf(text, sizeof text, format, list);
        cli_keep_message(text);
    } else {
        say(format, list);
    }
    va_end(list);
    return status;
}

int cli_have(size_t n, const void *const pointer[])
{
    for (size_t i = 0; i < n; i++) {
        if (pointer[i] == NULL) {
            return cli_error(CLI_FAILED, "out of memory");
        }
    }
    return CLI_DONE;
}

void cli_note(const cli_arguments *arguments, const char *format, ...)
{
    if (arguments->quiet || !cli_speaks()) {
        return;
    }
    va_list list;
    va_start(list, format);
    say(format, list);
    va_end(list);
}

int cli_is_terminal(int fd)
{
    return cli_here.ranks == NULL && isatty(fd);
}

/* @return whether standard error is a terminal with colours, and NO_COLOR is not set
 *         (no-color.org).
 */
static int shows_colours(void)
{
    const char *none = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return cli_is_terminal(STDERR_FILENO) && (none == NULL || none[0] == '\0') && term != NULL &&
           term[0] != '\0' && strcmp(term, "dumb") != 0;
}

void cli_note_verdict(const cli_arguments *arguments, cli_colour colour, const char *text)
{
    static const char *const begin[] = {"\033[32m", "\033[33m", "\033[31m"};
    const int shown = shows_colours();
    if (arguments->quiet < 2 && cli_speaks()) {
        (void)fprintf(stderr, "%s: %s%s%s\n", cli_here.program, shown ? begin[colour] : "", text,
                      shown ? "\033[0m" : "");
    }
}

int cli_judge(const cli_arguments *arguments, int converged, int status)
{
    const int written = status == CLI_DONE || status == CLI_STOPPED;
    return written && arguments->require_converged && !converged ? CLI_DOUBTFUL : status;
}

int cli_terminal_width(void)
{
    struct winsize size;
    if (cli_is_terminal(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
        size.ws_col > 0) {
        return size.ws_col;
    }
    return 80;
}

int cli_line_width(void)
{
    return cli_is_terminal(STDOUT_FILENO) ? cli_terminal_width() - 1 : INT_MAX;
}

void cli_warn(void *context, const char *message)
{
    const cli_arguments *arguments = context;
    cli_note(arguments, "warning: %s", message);
}

void cli_tell(void *context, const char *message)
{
    cli_note(context, "%s", message);
}

static int exit_of(gbs_status status)
{
    switch (status) {
    case GBS_OK:
        return CLI_DONE;
    case GBS_STOPPED:
    case GBS_ERR_STOPPED:
        return CLI_STOPPED;
    case GBS_ERR_ARGUMENT:
        return CLI_USAGE;
    case GBS_ERR_FORMAT:
        return CLI_INPUT;
    default:
        return CLI_FAILED;
    }
}

/* Name of what sets the memory limit, if not --memory-limit. */
static const char *limit_name;

void cli_limit_by(const char *name)
{
    limit_name = name;
}

static void say_reason(const gbs_error *err)
{
    static const char option[] = "--memory-limit";
    const char *at = limit_name == NULL ? NULL : strstr(err->message, option);
    if (at != NULL) {
        (void)cli_error(0, "%.*s%s%s", (int)(at - err->message), err->message, limit_name,
                        at + sizeof option - 1);
        return;
    }
    (void)cli_error(0, "%s",
                    err->message[0] != '\0' ? err->message : "failed, and no reason was given");
}

int cli_fail(gbs_status status, const gbs_error *err)
{
    say_reason(err);
    return exit_of(status);
}

int cli_fail_input(gbs_status status, const gbs_error *err)
{
    say_reason(err);
    return status == GBS_ERR_IO || status == GBS_ERR_UNSUPPORTED ? CLI_INPUT : exit_of(status);
}

int cli_fail_output(const char *path, gbs_status status, const gbs_error *err)
{
    if (status == GBS_ERR_IO && strcmp(path, "-") == 0 && cli_reader_gone()) {
        return CLI_FAILED;
    }
    return cli_fail(status, err);
}

int cli_reader_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = 0};
    return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

/* @return the Levenshtein distance, at most limit + 1, of words of up to 63 letters. */
static size_t distance(const char *a, const char *b, size_t limit)
{
    size_t row[64];
    size_t n = strlen(b);
    if (n >= 64) {
        return limit + 1;
    }
    for (size_t j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
        }
    }
    return row[n] <= limit ? row[n] : limit + 1;
}

const char *cli_nearest(const char *text, const char *const *candidate, size_t n)
{
    size_t best = n;
    size_t length = strlen(text);
    size_t limit = 1 + length / 4;
    for (size_t i = 0; i < n; i++) {
        size_t d = distance(text, candidate[i], limit);
        if (d <= limit && d < length && (best == n || d < limit)) {
            best = i;
            limit = d;
        }
    }
    for (size_t i = 0; best == n && length >= 3 && i < n; i++) {
        if (strncmp(candidate[i], text, length) == 0) {
            best = i;
        }
    }
    return best < n ? candidate[best] : NULL;
}

int cli_flush(FILE *stream)
{
    if (fflush(stream) != 0 || ferror(stream)) {
        return cli_reader_gone() ? CLI_FAILED
                                 : cli_error(CLI_FAILED, "standard output: cannot write");
    }
    return CLI_DONE;
}

gbs_status cli_reason(gbs_error *err, gbs_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    err->status = status;
    (void)vsnprintf(err->message, sizeof err->message, format, list);
    va_end(list);
    return status;
}
