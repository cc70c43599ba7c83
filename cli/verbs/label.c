/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite label: finds labels of the tokens of column data with a conditional random field. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gibbsite/crf.h"
#include "job/job.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

typedef struct labelling {
    cli_arguments *arguments;
    gbs_label_options options;
    gbs_crf *crf;
    gbs_sequences *data;
    uint32_t *label;   /* [tokens] */
    double *posterior; /* [tokens][labels] or NULL */
    double *log_p;     /* [sequences] or NULL */
    uint32_t truth;    /* column of the true labels; UINT32_MAX if there is no such column */
    gbs_label_report report;
    gbs_label_scores *scores;
    cli_bar bar;
} labelling;

/* ---- what was typed -------------------------------------------------------------------------- */

static int settle(labelling *l)
{
    const cli_arguments *arguments = l->arguments;
    l->options = (gbs_label_options){.size = sizeof l->options,
                                     .time_s = arguments->run.time_s,
                                     .threads = arguments->run.threads,
                                     .memory_limit = arguments->run.memory_limit,
                                     .run = &arguments->run};
    if (strcmp(arguments->operand[0], "-") == 0 && strcmp(arguments->operand[1], "-") == 0) {
        return cli_error(CLI_USAGE, "standard input cannot be the model and the data");
    }
    const int status = cli_check_method(arguments);
    return status == CLI_DONE ? cli_check_results(arguments) : status;
}

/* Finds the column of --truth, once the number of columns is known. */
static int find_truth(labelling *l)
{
    const char *text = l->arguments->truth;
    const uint32_t n = gbs_sequences_n_columns(l->data);
    uint64_t column = n - 1;
    l->truth = UINT32_MAX;
    if (text == NULL) {
        return CLI_DONE;
    }
    if (strcmp(text, "last") != 0 && (!cli_parse_uint(text, &column) || column >= n)) {
        return cli_error(
            CLI_USAGE, "--truth: found \"%s\", expected last, or a column of %s from 0 to %" PRIu32,
            text, l->arguments->operand[1], n - 1);
    }
    l->truth = (uint32_t)column;
    return CLI_DONE;
}

static int read_files(labelling *l)
{
    gbs_error err = {GBS_OK, ""};
    gbs_status done = gbs_crf_read(l->arguments->operand[0], &l->crf, &err);
    if (done >= 0) {
        done = gbs_sequences_read(l->arguments->operand[1], &l->data, &err);
    }
    return done < 0 ? cli_fail_input(done, &err) : find_truth(l);
}

/* ---- labelling ------------------------------------------------------------------------------- */

static int label(labelling *l)
{
    gbs_error err = {GBS_OK, ""};
    const size_t n_tokens = gbs_sequences_n_tokens(l->data);
    const int sums = l->arguments->posterior != NULL;
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &l->bar, .progress = cli_bar_watch};
    l->label = calloc(n_tokens, sizeof *l->label);
    l->posterior = sums ? calloc(n_tokens, gbs_crf_n_labels(l->crf) * sizeof *l->posterior) : NULL;
    l->log_p = sums ? calloc(gbs_sequences_n(l->data), sizeof *l->log_p) : NULL;
    if (l->label == NULL || (sums && (l->posterior == NULL || l->log_p == NULL))) {
        return cli_error(CLI_FAILED, "out of memory");
    }
    cli_signals_catch();
    cli_bar_init(&l->bar, l->arguments, &l->arguments->run);
    l->bar.unit = "tokens";
    gbs_status done = gbs_crf_label(l->crf, l->data, &l->options, &callbacks, l->label,
                                    l->posterior, l->log_p, &l->report, &err);
    cli_bar_finish(&l->bar, NULL);
    if (done == GBS_ERR_ARGUMENT && gbs_sequences_n_columns(l->data) < gbs_crf_n_columns(l->crf)) {
        done = GBS_ERR_FORMAT;
    }
    if (done >= 0 && l->truth != UINT32_MAX) {
        done = gbs_label_scores_new(l->crf, l->data, l->truth, l->label, &l->scores, &err);
    }
    return done < 0 ? cli_fail(done, &err) : CLI_DONE;
}

/* ---- results --------------------------------------------------------------------------------- */

static void write_probability(gbs_output *output, const labelling *l, size_t token, uint32_t y)
{
    gbsi_output_text(output, "\t");
    gbsi_output_text(output, gbs_crf_label_name(l->crf, y));
    gbsi_output_text(output, "/");
    gbsi_output_double(output, l->posterior[token * gbs_crf_n_labels(l->crf) + y]);
}

static void write_token(gbs_output *output, const labelling *l, size_t token)
{
    const char *posterior = l->arguments->posterior;
    for (uint32_t c = 0; c < gbs_sequences_n_columns(l->data); c++) {
        gbsi_output_text(output, gbs_sequences_text(l->data, token, c));
        gbsi_output_text(output, "\t");
    }
    gbsi_output_text(output, gbs_crf_label_name(l->crf, l->label[token]));
    if (posterior != NULL && strcmp(posterior, "best") == 0) {
        write_probability(output, l, token, l->label[token]);
    } else if (posterior != NULL) {
        for (uint32_t y = 0; y < gbs_crf_n_labels(l->crf); y++) {
            write_probability(output, l, token, y);
        }
    }
    gbsi_output_text(output, "\n");
}

static void write_labels(gbs_output *output, const void *context)
{
    const labelling *l = context;
    const size_t *first = gbs_sequences_first(l->data);
    for (size_t s = 0; s < gbs_sequences_n(l->data); s++) {
        for (size_t t = first[s]; t < first[s + 1]; t++) {
            write_token(output, l, t);
        }
        gbsi_output_text(output, "\n");
    }
}

static void write_member(gbs_output *output, const char *before, const char *name)
{
    gbsi_output_text(output, before);
    gbsi_output_json_string(output, name);
    gbsi_output_text(output, ": ");
}

static void write_score(gbs_output *output, const gbs_entity_score *of)
{
    write_member(output, "    {", "class");
    gbsi_output_json_string(output, of->name);
    write_member(output, ", ", "true");
    gbsi_output_uint(output, of->n_true);
    write_member(output, ", ", "found");
    gbsi_output_uint(output, of->n_found);
    write_member(output, ", ", "correct");
    gbsi_output_uint(output, of->n_correct);
    write_member(output, ", ", "precision");
    gbsi_output_json_double(output, of->precision);
    write_member(output, ", ", "recall");
    gbsi_output_json_double(output, of->recall);
    write_member(output, ", ", "f1");
    gbsi_output_json_double(output, of->f1);
    gbsi_output_text(output, "}");
}

static void write_report(gbs_output *output, const void *context)
{
    const labelling *l = context;
    size_t n = 0;
    const gbs_entity_score *of = gbs_label_scores_entities(l->scores, &n);
    cli_json_head(output, "label/1", NULL);
    write_member(output, ",\n  ", "sequences");
    gbsi_output_uint(output, gbs_sequences_n(l->data));
    write_member(output, ",\n  ", "tokens");
    gbsi_output_uint(output, gbs_sequences_n_tokens(l->data));
    write_member(output, ",\n  ", "unseen_tokens");
    gbsi_output_uint(output, l->report.n_unseen);
    write_member(output, ",\n  ", "links");
    gbsi_output_uint(output, l->report.n_links);
    write_member(output, ",\n  ", "proved_sequences");
    gbsi_output_uint(output, l->report.n_proved);
    write_member(output, ",\n  ", "updates");
    gbsi_output_uint(output, l->report.updates);
    write_member(output, ",\n  ", "seconds");
    gbsi_output_json_double(output, l->report.seconds);
    if (l->posterior != NULL) {
        write_member(output, ",\n  ", "unconverged_sequences");
        gbsi_output_uint(output, l->report.n_unconverged);
    }
    if (l->log_p != NULL) {
        double sum = 0.0;
        for (size_t s = 0; s < gbs_sequences_n(l->data); s++) {
            sum += l->log_p[s];
        }
        write_member(output, ",\n  ", "log_probability");
        gbsi_output_json_double(output, sum);
    }
    if (l->scores != NULL) {
        write_member(output, ",\n  ", "accuracy");
        gbsi_output_json_double(output, gbs_label_scores_accuracy(l->scores));
        write_member(output, ",\n  ", "unseen_labels");
        gbsi_output_uint(output, gbs_label_scores_unseen(l->scores));
        write_member(output, ",\n  ", "entities");
        gbsi_output_text(output, "[");
        for (size_t i = 0; i < n; i++) {
            gbsi_output_text(output, i == 0 ? "\n" : ",\n");
            write_score(output, &of[i]);
        }
        gbsi_output_text(output, "\n  ]");
    }
    gbsi_output_text(output, "\n}\n");
}

/* Prints the reasons to trust or doubt the labels and probabilities. */
static void tell_trust(const labelling *l)
{
    const gbs_label_report *r = &l->report;
    const uint64_t n_sequences = gbs_sequences_n(l->data);
    const char *idle = r->updates == 0 ? cli_sampled_option(l->arguments) : NULL;
    char verdict[160];
    if (idle != NULL) {
        cli_note(l->arguments, "all labels were found exactly: --%s applies with --method sample",
                 idle);
    }
    if (r->n_links > 0) {
        cli_note(l->arguments, "%" PRIu64 " pair%s of tokens are linked", r->n_links,
                 gbsi_plural(r->n_links));
    }
    if (r->n_proved < n_sequences) {
        cli_note(l->arguments,
                 "labels of %" PRIu64 " sequence%s: the best that %" PRIu64
                 " update%s of single labels met, not proved to be the most probable ones",
                 n_sequences - r->n_proved, gbsi_plural(n_sequences - r->n_proved), r->updates,
                 gbsi_plural(r->updates));
    }
    if (r->n_unconverged > 0) {
        (void)snprintf(verdict, sizeof verdict,
                       "not converged: probabilities of %" PRIu64 " of %" PRIu64
                       " sequence%s; try more --sweeps, or --method exact",
                       r->n_unconverged, n_sequences, gbsi_plural(n_sequences));
        cli_note_verdict(l->arguments, CLI_YELLOW, verdict);
    }
}

static int is_known(const gbs_crf *crf, const char *label)
{
    uint32_t y = 0;
    while (y < gbs_crf_n_labels(crf) && strcmp(gbs_crf_label_name(crf, y), label) != 0) {
        y++;
    }
    return y < gbs_crf_n_labels(crf);
}

/* Prints the numbers of tokens and true labels that do not occur in the training data, with an
 * example of such a label. */
static void tell_unseen(const labelling *l)
{
    const uint64_t n = gbs_label_scores_unseen(l->scores);
    size_t t = 0;
    if (l->report.n_unseen > 0) {
        cli_note(l->arguments,
                 "of %" PRIu64 " of %zu token%s the model knows no feature: they are labelled by "
                 "their neighbours alone",
                 l->report.n_unseen, gbs_sequences_n_tokens(l->data),
                 gbsi_plural(gbs_sequences_n_tokens(l->data)));
    }
    if (n == 0) {
        return;
    }
    while (is_known(l->crf, gbs_sequences_text(l->data, t, l->truth))) {
        t++;
    }
    cli_note(l->arguments,
             "warning: %" PRIu64 " of %zu token%s %s a true label that %s does not have, such as "
             "\"%s\": %s as wrong",
             n, gbs_sequences_n_tokens(l->data), gbsi_plural(gbs_sequences_n_tokens(l->data)),
             gbsi_plural_of(n, "has", "have"), l->arguments->operand[0],
             gbs_sequences_text(l->data, t, l->truth),
             gbsi_plural_of(n, "it counts", "they count"));
}

static void tell(const labelling *l)
{
    size_t n = 0;
    const gbs_entity_score *of = gbs_label_scores_entities(l->scores, &n);
    cli_note(l->arguments, "%zu token%s in %zu sequence%s", gbs_sequences_n_tokens(l->data),
             gbsi_plural(gbs_sequences_n_tokens(l->data)), gbs_sequences_n(l->data),
             gbsi_plural(gbs_sequences_n(l->data)));
    tell_trust(l);
    tell_unseen(l);
    if (l->scores != NULL) {
        cli_note(l->arguments, "%.2f %% of the labels are right",
                 100.0 * gbs_label_scores_accuracy(l->scores));
    }
    for (size_t i = 0; i < n; i++) {
        cli_note(l->arguments,
                 "%s%s: %" PRIu64 " entit%s, %" PRIu64 " found, %" PRIu64
                 " right; precision %.2f %%, recall %.2f %%, F1 %.2f",
                 i == 0 ? "all classes" : "class ", of[i].name, of[i].n_true,
                 gbsi_plural_of(of[i].n_true, "y", "ies"), of[i].n_found, of[i].n_correct,
                 100.0 * of[i].precision, 100.0 * of[i].recall, 100.0 * of[i].f1);
    }
}

static int run_label(cli_arguments *arguments)
{
    labelling l = {.arguments = arguments, .report = {.size = sizeof l.report}};
    int status = CLI_DONE;
    CLI_TRY(settle(&l));
    CLI_TRY(read_files(&l));
    CLI_TRY(label(&l));
    CLI_TRY(cli_write(arguments->output != NULL ? arguments->output : "-", write_labels, &l));
    CLI_TRY(cli_write(arguments->summary, write_report, &l));
    tell(&l);

cleanup:
    gbs_label_scores_free(l.scores);
    gbs_sequences_free(l.data);
    gbs_crf_free(l.crf);
    free(l.label);
    free(l.posterior);
    free(l.log_p);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/label.def"
};

const cli_verb cli_verb_label = {
    .name = "label",
    CLI_TAKES(options),
    .n_operands = 2,
    .operands = "MODEL DATA",
    .what = "labels of tokens by a conditional random field",
    .notes = "MODEL is a text model of CRF++ or Wapiti. DATA has a token a line, its columns\n"
             "separated by blanks, and an empty line after each sequence. Writes DATA with\n"
             "the most probable label of each token as one more column. With --truth, says\n"
             "how many labels and entities are right: precision, recall and F1 by class.\n",
    .example = "gibbsite label examples/places.crf examples/places.txt\n"
               "gibbsite label examples/places.crf examples/places.txt --truth 2 -o out.txt\n"
               "gibbsite label examples/places.crf examples/places.txt --posterior best\n",
    .run = run_label,
};
