/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite decompose prints the error components of a focus variable. With --asymptotic the verb
 * prints the limit of the correlation component. With --bound it prints the error beside the bound
 * of the convergence theorem. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "lab/decomposition.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

/* Statistics over the chains. */
typedef struct spread {
    double mean, error, min, max;
} spread;

static spread spread_of(const double *value, uint32_t n)
{
    spread s = {0.0, NAN, value[0], value[0]};
    double squares = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        s.mean += value[i];
        s.min = value[i] < s.min ? value[i] : s.min;
        s.max = value[i] > s.max ? value[i] : s.max;
    }
    s.mean /= n;
    for (uint32_t i = 0; i < n; i++) {
        squares += (value[i] - s.mean) * (value[i] - s.mean);
    }
    if (n > 1) {
        s.error = sqrt(squares / (n - 1.0) / n);
    }
    return s;
}

static void comma_double(gbs_output *output, double value)
{
    gbsi_output_text(output, ",");
    if (isfinite(value)) {
        gbsi_output_double(output, value);
    }
}

static void write_components(gbs_output *output, const char *focus, const lab_decomposition *d)
{
    gbsi_output_text(output, "focus,sweeps,component,mean,standard_error,min,max\n");
    for (size_t k = 0; k < d->n_checkpoints; k++) {
        for (size_t c = 0; c < LAB_N_COMPONENTS; c++) {
            const spread s =
                spread_of(d->value + (k * LAB_N_COMPONENTS + c) * d->n_chains, d->n_chains);
            gbsi_output_csv_field(output, focus);
            gbsi_output_text(output, ",");
            gbsi_output_uint(output, d->sweeps[k]);
            gbsi_output_text(output, ",");
            gbsi_output_text(output, lab_component_name((lab_component)c));
            comma_double(output, s.mean);
            comma_double(output, s.error);
            comma_double(output, s.min);
            comma_double(output, s.max);
            gbsi_output_text(output, "\n");
        }
    }
}

/* Writes the neighbours in the first state that has the key, as in "rain=no sprinkler=off". */
static void write_state(gbs_output *output, const gbs_model *model, const lab_asymptotic *a,
                        size_t key)
{
    char number[32];
    char text[512] = "";
    for (uint32_t i = 0; i < a->n_neighbours; i++) {
        const uint32_t v = a->neighbour[i];
        const uint32_t state = a->state[key * a->n_neighbours + i];
        const char *label = gbs_model_state_label(model, v, state);
        const size_t n = strlen(text);
        char index[16];
        (void)snprintf(index, sizeof index, "%" PRIu32, state);
        (void)snprintf(text + n, sizeof text - n, "%s%s=%s", i > 0 ? " " : "",
                       cli_variable_text(model, v, "x", number), label != NULL ? label : index);
    }
    gbsi_output_csv_field(output, text);
}

static void write_asymptotic(gbs_output *output, const gbs_model *model, const lab_asymptotic *a)
{
    gbsi_output_text(output, "key,state,p,t,distance,part\n");
    for (size_t y = 0; y < a->n_keys; y++) {
        gbsi_output_uint(output, y);
        gbsi_output_text(output, ",");
        write_state(output, model, a, y);
        comma_double(output, a->p[y]);
        comma_double(output, a->t[y]);
        comma_double(output, a->distance[y]);
        comma_double(output, a->part[y]);
        gbsi_output_text(output, "\n");
    }
    gbsi_output_text(output, "total,,1,,");
    comma_double(output, a->total);
    gbsi_output_text(output, "\n");
}

/* Writes the error and the bound of the convergence theorem. The error is a total variation
 * distance, half of the L1 distance. States are taken right after the update of the focus variable,
 * because each sweep ends with this update. */
static void write_bound(gbs_output *output, const lab_decomposition *d, const lab_bound *b)
{
    gbsi_output_text(output, "sweeps,mean,max,bound,eta,p,steps,l,b,lambda,t_star,tau\n");
    for (size_t k = 0; k < d->n_checkpoints; k++) {
        const double sweeps = (double)d->sweeps[k];
        const spread s =
            spread_of(d->value + (k * LAB_N_COMPONENTS + LAB_ALL) * d->n_chains, d->n_chains);
        const double number[] = {0.5 * s.mean,
                                 0.5 * s.max,
                                 lab_bound_at(b, sweeps),
                                 b->eta,
                                 b->least,
                                 b->steps,
                                 b->l,
                                 b->b,
                                 b->lambda,
                                 b->t_star,
                                 lab_bound_burn_in(b, sweeps)};
        gbsi_output_uint(output, d->sweeps[k]);
        for (size_t i = 0; i < sizeof number / sizeof number[0]; i++) {
            comma_double(output, number[i]);
        }
        gbsi_output_text(output, "\n");
    }
}

/* The answer; only the components that the user asked for are set. */
typedef struct answer {
    const cli_job *job;
    const char *focus;
    lab_decomposition parts;
    lab_asymptotic limit;
    lab_bound bound;
} answer;

static void write_answer(gbs_output *output, const void *context)
{
    const answer *a = context;
    if (a->job->arguments->asymptotic) {
        write_asymptotic(output, a->job->model, &a->limit);
    } else if (a->job->arguments->bound) {
        write_bound(output, &a->parts, &a->bound);
    } else {
        write_components(output, a->focus, &a->parts);
    }
}

static void say(const cli_job *job, const lab_decomposition *d)
{
    char text[256] = "";
    for (size_t c = 0; c < LAB_N_COMPONENTS; c++) {
        const size_t n = strlen(text);
        const size_t at = ((d->n_checkpoints - 1) * LAB_N_COMPONENTS + c) * d->n_chains;
        (void)snprintf(text + n, sizeof text - n, "%s%s %.3g", c > 0 ? ", " : "",
                       lab_component_name((lab_component)c),
                       spread_of(d->value + at, d->n_chains).mean);
    }
    cli_note(
        job->arguments, "%zu key%s; after %" PRIu64 " sweep%s, mean of %" PRIu32 " chain%s: %s",
        d->n_keys, gbsi_plural(d->n_keys), d->sweeps[d->n_checkpoints - 1],
        gbsi_plural(d->sweeps[d->n_checkpoints - 1]), d->n_chains, gbsi_plural(d->n_chains), text);
}

static void say_bound(const cli_job *job, const lab_bound *b)
{
    cli_note(job->arguments,
             "Dobrushin coefficient of a sweep %.4g, least conditional probability %.4g, any state "
             "after %" PRIu32
             " updates; the theorem says at most %.4g / T, below 1 from about %.3g "
             "sweeps on",
             b->eta, b->least, b->steps, b->lambda, b->lambda > b->t_star ? b->lambda : b->t_star);
}

static int answer_focus(cli_job *job, uint32_t focus, answer *a)
{
    cli_bar bar;
    gbs_error err = {GBS_OK, ""};
    gbs_status status = GBS_OK;
    cli_signals_catch();
    cli_bar_init(&bar, job->arguments, &job->options);
    const gbs_run_callbacks callbacks = {.context = &bar, .progress = cli_bar_watch};
    if (job->arguments->bound) {
        status = lab_bound_find(job->model, job->evidence, &job->options, focus, &callbacks,
                                &a->bound, &err);
    }
    status = status != GBS_OK ? status
             : job->arguments->asymptotic
                 ? lab_decompose_asymptotic(job->model, job->evidence, &job->options, focus,
                                            &callbacks, &a->limit, &err)
                 : lab_decompose(job->model, job->evidence, &job->options, focus, &callbacks,
                                 &a->parts, &err);
    cli_bar_finish(&bar, NULL);
    if (status == GBS_STOPPED) {
        return cli_error(CLI_STOPPED, "stopped before the end: no result was written");
    }
    if (status < 0) {
        return cli_fail(status, &err);
    }
    if (job->arguments->bound) {
        say_bound(job, &a->bound);
    } else if (!job->arguments->asymptotic) {
        say(job, &a->parts);
    }
    return CLI_DONE;
}

static int run_decompose(cli_arguments *arguments)
{
    answer a;
    cli_job job;
    char number[32];
    uint32_t focus = 0;
    gbs_error err = {GBS_OK, ""};
    memset(&a, 0, sizeof a);
    memset(&job, 0, sizeof job);
    if (arguments->focus == NULL) {
        return cli_error(CLI_USAGE, "--focus is missing; see 'gibbsite help decompose'");
    }
    int status = CLI_DONE;
    CLI_TRY(cli_check_output(arguments->output));
    CLI_TRY(cli_load(&job, arguments, arguments->operand[0]));
    const gbs_status found = gbs_model_find_variable(job.model, arguments->focus, &focus, &err);
    CLI_TRY(found < 0 ? cli_fail(found, &err) : CLI_DONE);
    CLI_TRY(answer_focus(&job, focus, &a));
    a.job = &job;
    a.focus = cli_variable_text(job.model, focus, "x", number);
    CLI_TRY(cli_write(arguments->output != NULL ? arguments->output : "-", write_answer, &a));

cleanup:
    lab_decomposition_free(&a.parts);
    lab_asymptotic_free(&a.limit);
    cli_job_free(&job);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/decompose.def"
};

const cli_verb cli_verb_decompose = {
    .name = "decompose",
    CLI_TAKES(options),
    .n_operands = 1,
    .operands = "MODEL",
    .what = "the errors of draws on a small model, decomposed",
    .notes = "Decomposes the error of joint frequencies at one variable, after Yamashita and\n"
             "Suzuki (2019), into the parts due to herding itself, to weights that serve\n"
             "several states, and to the other variables. Writes CSV with the columns focus,\n"
             "sweeps, component, mean, standard_error, min, max after 1, 2, 4, ... sweeps (up\n"
             "to 65536 or --sweeps); with --asymptotic the columns are key, state, p, t,\n"
             "distance, part; with --bound they are sweeps, the mean and the largest total\n"
             "variation over the chains, bound, and the constants of the theorem of Chen\n"
             "et al. (2016): eta, p, steps, l, b, lambda, t_star, tau.\n",
    .example = "gibbsite decompose examples/sprinkler.bif --focus rain --sweeps 1024\n"
               "gibbsite decompose examples/sprinkler.bif --focus rain --asymptotic\n",
    .run = run_decompose,
};
