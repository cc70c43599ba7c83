/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the progress of a run on one line of standard error: a bar for people, JSON for programs.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "job/job.h"
#include "job/ranks.h"

/* Least number of seconds between two redraws, which allows at most ten lines a second */
#define REDRAW_S 0.1

double cli_clock_s(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void cli_bar_init(cli_bar *bar, const cli_arguments *arguments, const gbs_run_options *options)
{
    memset(bar, 0, sizeof *bar);
    bar->mode = cli_speaks() ? arguments->progress : CLI_PROGRESS_NEVER;
    bar->last_s = -1.0;
    bar->burning_in = -1;
    bar->time_s = options->time_s;
    bar->to = stderr;
    if (bar->mode == CLI_PROGRESS_AUTO) {
        bar->mode = cli_is_terminal(STDERR_FILENO) && !arguments->quiet ? CLI_PROGRESS_ALWAYS
                                                                        : CLI_PROGRESS_NEVER;
    }
    if (bar->mode == CLI_PROGRESS_JSON && arguments->progress_fd > STDERR_FILENO) {
        const int fd = dup(arguments->progress_fd); /* cli_bar_finish() closes the stream */
        FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
        if (to != NULL) {
            bar->to = to;
        } else {
            bar->mode = CLI_PROGRESS_NEVER;
            (void)(fd < 0 || close(fd));
        }
    }
}

/* @return the share of the phase that is done, NAN if unknown. Errors fall as 1/sqrt(passes). */
static double share_of_phase(const gbs_progress *p)
{
    if (p->passes > 0) {
        double share = (double)p->pass / (double)p->passes;
        return share > 1.0 ? 1.0 : share;
    }
    if (!p->burning_in && p->target_error > 0.0 && isfinite(p->worst_error)) {
        double share = p->target_error / p->worst_error;
        return share < 1.0 ? share * share : 1.0;
    }
    return NAN;
}

/* @return the share that the bar shows. This is the share of the phase that is done, or the share
 *         of --time that has passed if --time will end the run sooner. */
static double share_done(const cli_bar *bar, const gbs_progress *p)
{
    const double share = share_of_phase(p);
    const double spent = bar->time_s > 0.0 ? p->elapsed_s / bar->time_s : 0.0;
    return bar->time_s > 0.0 && (isnan(share) || spent > share) ? fmin(spent, 1.0) : share;
}

/* @return the seconds left until the end of this phase or of --time, whichever is sooner; NAN if
 *         unknown. */
static double seconds_left(const cli_bar *bar, const gbs_progress *p, double share)
{
    double left = NAN;
    if (share > 0.0) {
        left = (p->elapsed_s - bar->phase_s) * (1.0 - share) / share;
    }
    if (bar->time_s > 0.0) {
        double limit = bar->time_s > p->elapsed_s ? bar->time_s - p->elapsed_s : 0.0;
        left = isnan(left) || limit < left ? limit : left;
    }
    return left;
}

static void print_json_number(FILE *to, const char *key, double value)
{
    if (isfinite(value)) {
        (void)fprintf(to, ",\"%s\":%.9g", key, value);
    } else {
        (void)fprintf(to, ",\"%s\":null", key);
    }
}

static void end_json(FILE *to)
{
    (void)fputs("}\n", to);
    (void)fflush(to);
}

static void draw_json(const cli_bar *bar, const gbs_progress *p, double left)
{
    FILE *to = bar->to;
    (void)fprintf(to, "{\"phase\":\"%s\",\"pass\":%" PRIu64, p->burning_in ? "burn-in" : "sampling",
                  p->pass);
    print_json_number(to, "passes", p->passes > 0 ? (double)p->passes : NAN);
    (void)fprintf(to, ",\"updates\":%" PRIu64, p->updates);
    print_json_number(to, "elapsed_s", p->elapsed_s);
    print_json_number(to, "updates_per_second",
                      p->elapsed_s > 0.0 ? (double)p->updates / p->elapsed_s : NAN);
    print_json_number(to, "worst_error", p->worst_error);
    print_json_number(to, "target_error", p->target_error > 0.0 ? p->target_error : NAN);
    print_json_number(to, "left_s", left);
    print_json_number(to, "rhat", p->rhat > 0.0 ? p->rhat : NAN);
    print_json_number(to, "time_s", bar->time_s > 0.0 ? bar->time_s : NAN);
    end_json(to);
}

static void format_time(double seconds, char *text, size_t n)
{
    if (!isfinite(seconds) || seconds > 3.6e6) {
        text[0] = '\0';
    } else if (seconds < 99.5) {
        (void)snprintf(text, n, " %.0f s left", seconds);
    } else if (seconds < 99.5 * 60) {
        (void)snprintf(text, n, " %.0f min left", seconds / 60.0);
    } else {
        (void)snprintf(text, n, " %.1f h left", seconds / 3600.0);
    }
}

static size_t terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) {
        return (size_t)size.ws_col - 1; /* some terminals wrap a line that fills the last column */
    }
    return 79;
}

/* Writes a bar such as "[####......]", or a spinner if the end is not known. @param text [24]. */
static void format_bar(const cli_bar *bar, double share, char *text)
{
    const size_t width = 20;
    if (isnan(share)) {
        (void)snprintf(text, 24, "%c", "|/-\\"[bar->n_redraws % 4]);
        return;
    }
    text[0] = '[';
    for (size_t i = 0; i < width; i++) {
        text[1 + i] = (double)i < share * (double)width ? '#' : '.';
    }
    memcpy(text + 1 + width, "]", 2); /* 1 + 20 + 1 + NUL = 23 */
}

static void draw_line(cli_bar *bar, const gbs_progress *p, double share, double left)
{
    char line[256];
    char picture[24];
    char passes[48] = "";
    char error[64] = "";
    char rhat[32] = "";
    char time[48];
    format_bar(bar, share, picture);
    format_time(left, time, sizeof time);
    if (p->passes > 0) {
        (void)snprintf(passes, sizeof passes, "/%" PRIu64, p->passes);
    }
    if (isfinite(p->worst_error)) {
        int n = snprintf(error, sizeof error, ", error %.2g", p->worst_error);
        if (p->target_error > 0.0) {
            (void)snprintf(error + n, sizeof error - (size_t)n, " (target %.2g)", p->target_error);
        }
    }
    if (p->rhat > 0.0) {
        (void)snprintf(rhat, sizeof rhat, ", R-hat %.4g", p->rhat);
    }
    double rate = p->elapsed_s > 0.0 ? (double)p->updates / p->elapsed_s * 1e-6 : 0.0;
    (void)snprintf(line, sizeof line, "%s %s %" PRIu64 "%s sweeps, %.1f M updates/s%s%s%s%s",
                   p->burning_in ? "burn-in" : "sampling", picture, p->pass, passes, rate, rhat,
                   error, time[0] != '\0' ? "," : "", time);
    (void)fprintf(stderr, "\r%.*s\033[K", (int)terminal_width(), line);
    (void)fflush(stderr);
    bar->drawn = 1;
}

void cli_bar_update(cli_bar *bar, const gbs_progress *progress)
{
    if (bar->mode == CLI_PROGRESS_NEVER) {
        return;
    }
    if (progress->work != NULL) {
        cli_bar_share(bar, progress->elapsed_s, progress->share, progress->work);
        return;
    }
    if (progress->burning_in != bar->burning_in) {
        bar->burning_in = progress->burning_in;
        bar->phase_s = bar->last_s >= 0.0 ? progress->elapsed_s : 0.0;
    }
    if (bar->last_s >= 0.0 && progress->elapsed_s < bar->last_s + REDRAW_S) {
        return;
    }
    bar->last_s = progress->elapsed_s;
    bar->n_redraws++;
    const double phase = share_of_phase(progress);
    double left = seconds_left(bar, progress, phase);
    if (bar->mode == CLI_PROGRESS_JSON) {
        draw_json(bar, progress, left);
    } else {
        draw_line(bar, progress, share_done(bar, progress), left);
    }
}

static void tell_end(FILE *to, const gbs_report *report)
{
    (void)fprintf(to, "{\"phase\":\"done\",\"pass\":%" PRIu64 ",\"updates\":%" PRIu64,
                  report->sweeps, report->updates);
    print_json_number(to, "elapsed_s", report->sampling_s);
    print_json_number(to, "updates_per_second", report->updates_per_s);
    print_json_number(to, "worst_error", report->max_mcse);
    print_json_number(to, "target_error", report->target_error > 0.0 ? report->target_error : NAN);
    print_json_number(to, "rhat", report->max_rhat);
    (void)fprintf(to, ",\"converged\":%s", report->converged ? "true" : "false");
    end_json(to);
}

void cli_bar_finish(cli_bar *bar, const gbs_report *report)
{
    if (bar->drawn) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        bar->drawn = 0;
    }
    if (bar->mode == CLI_PROGRESS_JSON && report != NULL) {
        tell_end(bar->to, report);
    }
    if (bar->to != stderr) {
        (void)fclose(bar->to);
        bar->to = stderr;
    }
}

void cli_bar_tell(cli_bar *bar, const gbs_progress *progress)
{
    char of[32] = "";
    char error[80] = "";
    if (progress->passes > 0) {
        (void)snprintf(of, sizeof of, " of %" PRIu64, progress->passes);
    }
    if (isfinite(progress->worst_error)) {
        (void)snprintf(error, sizeof error, ", largest error %.3g", progress->worst_error);
    }
    if (bar->drawn) {
        (void)fputs("\r\033[K", stderr);
        bar->drawn = 0;
    }
    if (progress->work != NULL) {
        (void)cli_error(0, "%s: %.3g s so far", progress->work, progress->elapsed_s);
        return;
    }
    (void)cli_error(0, "%s: %" PRIu64 "%s sweeps, %.3g updates in %.3g s%s",
                    progress->burning_in ? "burning in" : "sampling", progress->pass, of,
                    (double)progress->updates, progress->elapsed_s, error);
}

void cli_bar_share(cli_bar *bar, double elapsed_s, double share, const char *what)
{
    char picture[24];
    char percent[16] = "";
    char time[48];
    if (bar->mode == CLI_PROGRESS_NEVER ||
        (bar->last_s >= 0.0 && elapsed_s < bar->last_s + REDRAW_S)) {
        return;
    }
    bar->last_s = elapsed_s;
    bar->n_redraws++;
    if (bar->mode == CLI_PROGRESS_JSON) {
        (void)fprintf(bar->to, "{\"phase\":\"%s\"", what);
        print_json_number(bar->to, "share", share);
        print_json_number(bar->to, "elapsed_s", elapsed_s);
        end_json(bar->to);
        return;
    }
    format_bar(bar, share, picture);
    format_time(share > 0.0 ? elapsed_s * (1.0 - share) / share : NAN, time, sizeof time);
    if (!isnan(share)) {
        (void)snprintf(percent, sizeof percent, " %3.0f %%", 100.0 * share);
    }
    (void)fprintf(stderr, "\r%s%s %s%s%s\033[K", picture, percent, what, time[0] != '\0' ? "," : "",
                  time);
    (void)fflush(stderr);
    bar->drawn = 1;
}

int cli_bar_watch(void *context, const gbs_progress *progress)
{
    cli_bar *bar = context;
    char text[64];
    if (bar->unit == NULL) {
        cli_bar_update(bar, progress);
    } else {
        (void)snprintf(text, sizeof text, "%" PRIu64 " %s", progress->pass, bar->unit);
        cli_bar_share(
            bar, progress->elapsed_s,
            progress->passes == 0 ? 0.0 : (double)progress->pass / (double)progress->passes, text);
    }
    return cli_signals_caught();
}
