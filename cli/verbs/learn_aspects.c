/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite learn aspects: learns classes of patches from pictures whose contents the user has
 * labelled. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gibbsite/segment.h"
#include "learn_machines.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

typedef struct learning {
    cli_arguments *arguments;
    gbs_aspect_options options;
    gbs_aspects *aspects;
    gbs_aspect_report report;
    cli_points curve;
    cli_bar bar;
} learning;

/* Reads --patch, "SIDE" or "SIDE,STEP". */
static int settle_patch(learning *l)
{
    const char *text = l->arguments->patch;
    char side[24] = "";
    if (text == NULL) {
        return CLI_DONE;
    }
    const char *comma = strchr(text, ',');
    const size_t n = comma == NULL ? strlen(text) : (size_t)(comma - text);
    memcpy(side, text, n < sizeof side ? n : 0);
    if (!cli_parse_uint(side, &l->options.side) ||
        (comma != NULL && !cli_parse_uint(comma + 1, &l->options.step)) || l->options.side < 4 ||
        l->options.side > 1024 || l->options.step > 1024 || (comma != NULL && !l->options.step)) {
        return cli_error(CLI_USAGE,
                         "--patch: found \"%s\", expected a side of 4 to 1024 pixels, perhaps with "
                         "a step of 1 to 1024 as in 20,10",
                         text);
    }
    return CLI_DONE;
}

static int settle(learning *l)
{
    const cli_arguments *arguments = l->arguments;
    l->options = arguments->of.aspects;
    const int status = settle_patch(l);
    return status == CLI_DONE ? cli_check_results(arguments) : status;
}

static int learn(learning *l)
{
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &l->bar, .progress = cli_bar_watch};
    gbs_error err = {GBS_OK, ""};
    cli_signals_catch();
    if (l->arguments->curve != NULL) {
        l->options.point = cli_points_add;
        l->options.point_context = &l->curve;
    }
    cli_bar_init(&l->bar, l->arguments, &l->arguments->run);
    l->bar.unit = "pictures and iterations";
    const gbs_status done = gbs_aspects_learn(l->arguments->operand[0], &l->options, &callbacks,
                                              &l->aspects, &l->report, &err);
    cli_bar_finish(&l->bar, NULL);
    return done == GBS_ERR_IO || done == GBS_ERR_FORMAT ? cli_fail_input(done, &err)
           : done < 0                                   ? cli_fail(done, &err)
                                                        : CLI_DONE;
}

static int write_aspects(const learning *l)
{
    const char *path = l->arguments->output != NULL ? l->arguments->output : "-";
    gbs_error err = {GBS_OK, ""};
    const gbs_status done = gbs_aspects_write(l->aspects, path, &err);
    return done < 0 ? cli_fail_output(path, done, &err) : CLI_DONE;
}

static int write_summary(const learning *l)
{
    const gbs_aspect_report *r = &l->report;
    const cli_count counts[] = {{"pictures", r->n_pictures},    {"patches", r->n_patches},
                                {"classes", r->n_classes},      {"texture_words", r->n_words[0]},
                                {"color_words", r->n_words[1]}, {"position_words", r->n_words[2]},
                                {"iterations", r->iterations},  {NULL, 0}};
    const cli_number numbers[] = {
        {"mean_log_likelihood", r->mean_log_like}, {"seconds", r->seconds}, {NULL, 0}};
    const cli_flag flags[] = {{"converged", (int)r->converged}, {NULL, 0}};
    const cli_members summary = {
        .schema = "learn-aspects/1", .counts = counts, .numbers = numbers, .flags = flags};
    return cli_write_members(l->arguments->summary, &summary);
}

static int run_learn_aspects(cli_arguments *arguments)
{
    learning l = {.arguments = arguments, .report = {.size = sizeof l.report}};
    const gbs_aspect_report *r = &l.report;
    int status = CLI_DONE;
    CLI_TRY(settle(&l));
    CLI_TRY(learn(&l));
    CLI_TRY(write_aspects(&l));
    CLI_TRY(cli_points_write(&l.curve, arguments->curve));
    CLI_TRY(write_summary(&l));
    cli_note(arguments,
             "%" PRIu64 " picture%s, %" PRIu64 " patch%s, %" PRIu64 " class%s; %" PRIu64
             " word%s of texture, %" PRIu64 " of colour, %" PRIu64 " of place",
             r->n_pictures, gbsi_plural(r->n_pictures), r->n_patches,
             gbsi_plural_of(r->n_patches, "", "es"), r->n_classes,
             gbsi_plural_of(r->n_classes, "", "es"), r->n_words[0], gbsi_plural(r->n_words[0]),
             r->n_words[1], r->n_words[2]);
    cli_note(arguments, "%s after %" PRIu64 " iteration%s, %.3g s: ln P(words) = %.6g a patch",
             r->converged ? "converged" : "not converged; try more --iterations", r->iterations,
             gbsi_plural(r->iterations), r->seconds, r->mean_log_like);

cleanup:
    gbs_aspects_free(l.aspects);
    free(l.curve.value);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

#define CLI_QUESTION "learn aspects"
static const cli_option options[] = {
#include "gibbsite/questions/learn_aspects.def"
};

const cli_verb cli_verb_learn_aspects = {
    .name = "learn aspects",
    CLI_TAKES(options),
    .n_operands = 1,
    .operands = "LIST",
    .what = "classes for segment from pictures",
    .notes = "LIST has a line for each picture: its path, and the names of what it shows.\n",
    .example = "gibbsite learn aspects examples/ground/list.txt -o ground.aspects\n",
    .run = run_learn_aspects,
};
