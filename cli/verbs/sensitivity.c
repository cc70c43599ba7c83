/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite sensitivity: computes how P(X = x | evidence) changes with every parameter. */
#include "sensitivity.h"
#include "gibbsite/sensitivity.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOP      20    /* number of parameters in a table */
#define ROUNDING 1e-13 /* values below this share of the largest value count as rounding errors */

/* ---- parameters ------------------------------------------------------------------------------ */

static int is_cause(const cli_sensitivities *a, size_t i)
{
    return a->s.kind[i] == GBS_PARAMETER_INHIBITION || a->s.kind[i] == GBS_PARAMETER_LEAK;
}

/* @return the state of a parameter: of a conditional table's child, of a likelihood, or of an
 *         inhibited parent. */
static uint32_t state_of(const cli_sensitivities *a, size_t i)
{
    const gbs_sensitivities *s = &a->s;
    const uint32_t *scope = NULL;
    size_t first = 1; /* number of entries of a noisy factor before the entries of the parent */
    if (s->kind[i] != GBS_PARAMETER_INHIBITION) {
        return (uint32_t)(s->entry[i] % gbs_model_arity(a->job.model, s->of[i]));
    }
    (void)gbs_model_factor(a->job.model, s->factor[i], NULL, &scope);
    for (; *scope != s->of[i]; scope++) {
        first += gbs_model_arity(a->job.model, *scope);
    }
    return (uint32_t)(s->entry[i] - first);
}

/* @return the number of given variables in the scope of a parameter: the parents of a conditional
 * table, else all. */
static uint32_t n_given(const cli_sensitivities *a, size_t i)
{
    uint32_t n = 0;
    if (a->s.kind[i] == GBS_PARAMETER_LIKELIHOOD || is_cause(a, i)) {
        return a->s.kind[i] == GBS_PARAMETER_INHIBITION;
    }
    (void)gbs_model_factor(a->job.model, a->s.factor[i], &n, NULL);
    return a->s.kind[i] == GBS_PARAMETER_PROBABILITY ? n - 1 : n;
}

/* Writes "A=a B=b": the first n variables in the scope of parameter i's factor, in the states of
 * the parameter's entry. For a factor with a formula, writes the names only. */
static void scope_text(const cli_sensitivities *a, size_t i, uint32_t n, const char *between,
                       cli_text *text)
{
    const gbs_model *model = a->job.model;
    char number[32];
    uint32_t n_scope = 0;
    const uint32_t *scope = NULL;
    text->n = 0;
    text->at[0] = '\0';
    if (n > 0) { /* n > 0 implies that the parameter belongs to a factor */
        (void)gbs_model_factor(model, a->s.factor[i], &n_scope, &scope);
    }
    if (a->s.kind[i] == GBS_PARAMETER_INHIBITION) { /* the child whose cause is inhibited */
        cli_text_add(text, cli_variable_text(model, scope[n_scope - 1], "", number));
        return;
    }
    if (a->s.kind[i] != GBS_PARAMETER_WEIGHT) {
        cli_add_states(model, n, n_scope, scope, a->s.entry[i], between, text);
        return;
    }
    for (uint32_t k = 0; k < n && text->n + 1 < text->size; k++) {
        cli_text_add(text, k > 0 ? between : "");
        cli_text_add(text, cli_variable_text(model, scope[k], "", number));
    }
}

void cli_parameter_text(const cli_sensitivities *a, size_t i, char *text)
{
    const gbs_sensitivities *s = &a->s;
    const gbs_model *model = a->job.model;
    char scope[CLI_PARAMETER_TEXT / 2];
    char variable[32];
    char state[32];
    cli_text given = {.at = scope, .size = sizeof scope};
    const char *of = s->of[i] == UINT32_MAX ? "" : cli_variable_text(model, s->of[i], "", variable);
    const uint32_t n = n_given(a, i);
    scope_text(a, i, n, ", ", &given);
    switch ((gbs_parameter_kind)s->kind[i]) {
    case GBS_PARAMETER_PROBABILITY:
        (void)snprintf(text, CLI_PARAMETER_TEXT, "%.200s=%.200s%s%s", of,
                       cli_state_text(model, s->of[i], state_of(a, i), state), n > 0 ? " | " : "",
                       scope);
        break;
    case GBS_PARAMETER_LIKELIHOOD:
        (void)snprintf(text, CLI_PARAMETER_TEXT, "ln likelihood of %.200s=%.200s", of,
                       cli_state_text(model, s->of[i], (uint32_t)s->entry[i], state));
        break;
    case GBS_PARAMETER_INHIBITION:
        (void)snprintf(text, CLI_PARAMETER_TEXT, "inhibition of %.200s=%.200s in %s", of,
                       cli_state_text(model, s->of[i], state_of(a, i), state), scope);
        break;
    case GBS_PARAMETER_LEAK:
        (void)snprintf(text, CLI_PARAMETER_TEXT, "leak of %.200s", of);
        break;
    case GBS_PARAMETER_LOG_WEIGHT:
        (void)snprintf(text, CLI_PARAMETER_TEXT, "factor %zu, ln weight of %s", s->factor[i],
                       scope);
        break;
    default:
        (void)snprintf(text, CLI_PARAMETER_TEXT, "factor %zu, weight: %s", s->factor[i], scope);
    }
}

double cli_parameter_times(const cli_sensitivities *a, size_t i, double times)
{
    const double value = a->s.value[i];
    if (a->s.kind[i] != GBS_PARAMETER_PROBABILITY && !is_cause(a, i)) {
        return gbs_sensitivity_at(&a->s, i, value + log(times));
    }
    return gbs_sensitivity_at(&a->s, i, fmin(value * times, 1.0));
}

/* ---- which are shown ------------------------------------------------------------------------- */

typedef struct ranked {
    double size; /* absolute value of the derivative */
    size_t i;
} ranked;

static int by_size(const void *x, const void *y)
{
    const ranked *a = x;
    const ranked *b = y;
    if (a->size != b->size) {
        return a->size < b->size ? 1 : -1;
    }
    return (a->i > b->i) - (a->i < b->i);
}

/* @return whether a parameter is the more probable entry of a column of two, whose derivative is
 *         that of the other entry with opposite sign. */
static int is_mirror(const cli_sensitivities *a, size_t i)
{
    const gbs_sensitivities *s = &a->s;
    if (s->kind[i] != GBS_PARAMETER_PROBABILITY || gbs_model_arity(a->job.model, s->of[i]) != 2) {
        return 0;
    }
    const int second = (int)(s->entry[i] % 2);
    const double other = second ? s->value[i - 1] : s->value[i + 1];
    return other < s->value[i] || (other == s->value[i] && !second);
}

int cli_rank_parameters(const cli_sensitivities *a,
                        double (*size_of)(const cli_sensitivities *a, size_t i), size_t **order,
                        size_t *n)
{
    size_t n_ranked = 0;
    ranked *rank = calloc(a->s.n_parameters + 1, sizeof *rank);
    *order = calloc(a->s.n_parameters + 1, sizeof **order);
    if (rank == NULL || *order == NULL) {
        free(rank);
        return cli_error(CLI_FAILED, "out of memory: %zu parameters", a->s.n_parameters);
    }
    for (size_t i = 0; i < a->s.n_parameters; i++) {
        const double size = size_of(a, i);
        const int shown = fabs(a->s.derivative[i]) > 2.0 * a->s.mcse[i]; /* NAN is not shown */
        if (shown && size > 0.0 && !is_mirror(a, i)) {
            rank[n_ranked++] = (ranked){.size = size, .i = i};
        }
    }
    qsort(rank, n_ranked, sizeof *rank, by_size);
    for (*n = 0; *n < n_ranked && rank[*n].size > ROUNDING * rank[0].size; (*n)++) {
        (*order)[*n] = rank[*n].i;
    }
    free(rank);
    return CLI_DONE;
}

static double derivative_of(const cli_sensitivities *a, size_t i)
{
    return fabs(a->s.derivative[i]);
}

/* Chooses the parameters to show. @param top 0 for all parameters, in the order of the model;
 * else the number of parameters, with the largest derivatives first */
static int choose(cli_sensitivities *a, uint64_t top)
{
    const int status = cli_rank_parameters(a, derivative_of, &a->shown, &a->n);
    a->n = top < a->n ? (size_t)top : a->n;
    if (status == CLI_DONE && top == 0) {
        a->n = a->s.n_parameters;
        for (size_t i = 0; i < a->n; i++) {
            a->shown[i] = i;
        }
    }
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

static const char *const kinds[] = {"probability",    "log-weight", "weight",
                                    "log-likelihood", "inhibition", "leak"};

/* @return the state to which a parameter belongs; NULL if the parameter has no state. */
static const char *own_state(const cli_sensitivities *a, size_t i, char *number)
{
    const gbs_sensitivities *s = &a->s;
    if (s->kind[i] == GBS_PARAMETER_LOG_WEIGHT || s->kind[i] == GBS_PARAMETER_WEIGHT) {
        return NULL;
    }
    return s->kind[i] == GBS_PARAMETER_LEAK
               ? ""
               : cli_state_text(a->job.model, s->of[i], state_of(a, i), number);
}

static void csv_row(gbs_output *output, const cli_sensitivities *a, size_t i, cli_text *text)
{
    const gbs_sensitivities *s = &a->s;
    char number[32];
    const char *state = own_state(a, i, number);
    char name[32];
    gbsi_output_text(output, kinds[s->kind[i]]);
    gbsi_output_text(output, ",");
    if (s->kind[i] != GBS_PARAMETER_LIKELIHOOD) {
        gbsi_output_uint(output, s->factor[i]);
    }
    gbsi_output_text(output, ",");
    gbsi_output_csv_field(output,
                          state == NULL ? "" : cli_variable_text(a->job.model, s->of[i], "", name));
    gbsi_output_text(output, ",");
    gbsi_output_csv_field(output, state == NULL ? "" : state);
    gbsi_output_text(output, ",");
    scope_text(a, i, n_given(a, i), " ", text);
    gbsi_output_csv_field(output, text->at);
    cli_csv_number(output, s->value[i]);
    cli_csv_number(output, s->derivative[i]);
    cli_csv_number(output, s->mcse[i]);
    cli_csv_number(output, cli_parameter_times(a, i, 0.9));
    cli_csv_number(output, cli_parameter_times(a, i, 1.1));
    cli_csv_number(output, s->log_p[i]);
    if (a->job.arguments->reach > 0.0) {
        cli_csv_number(output, gbs_sensitivity_value_for(s, i, a->job.arguments->reach));
    }
    gbsi_output_text(output, "\n");
}

static void json_number(gbs_output *output, const char *name, double value)
{
    gbsi_output_text(output, ", \"");
    gbsi_output_text(output, name);
    gbsi_output_text(output, "\": ");
    gbsi_output_json_double(output, value);
}

static void json_row(gbs_output *output, const cli_sensitivities *a, size_t i, cli_text *text)
{
    const gbs_sensitivities *s = &a->s;
    char number[32];
    char name[32];
    const char *state = own_state(a, i, number);
    gbsi_output_text(output, "    {\"parameter\": ");
    gbsi_output_json_string(output, kinds[s->kind[i]]);
    if (s->kind[i] != GBS_PARAMETER_LIKELIHOOD) {
        gbsi_output_text(output, ", \"factor\": ");
        gbsi_output_uint(output, s->factor[i]);
        gbsi_output_text(output, ", \"entry\": ");
        gbsi_output_uint(output, s->entry[i]);
    }
    if (state != NULL) {
        gbsi_output_text(output, ", \"variable\": ");
        gbsi_output_json_string(output, cli_variable_text(a->job.model, s->of[i], "", name));
        gbsi_output_text(output, ", \"state\": ");
        gbsi_output_json_string(output, state);
    }
    scope_text(a, i, n_given(a, i), " ", text);
    gbsi_output_text(output, ", \"given\": ");
    gbsi_output_json_string(output, text->at);
    json_number(output, "value", s->value[i]);
    json_number(output, "derivative", s->derivative[i]);
    json_number(output, "mcse", s->mcse[i]);
    json_number(output, "p_at_0.9", cli_parameter_times(a, i, 0.9));
    json_number(output, "p_at_1.1", cli_parameter_times(a, i, 1.1));
    json_number(output, "log_evidence_derivative", s->log_p[i]);
    if (a->job.arguments->reach > 0.0) {
        json_number(output, "value_to_reach",
                    gbs_sensitivity_value_for(s, i, a->job.arguments->reach));
    }
    gbsi_output_text(output, "}");
}

static void json_head(gbs_output *output, const cli_sensitivities *a)
{
    char text[32];
    const gbs_model *model = a->job.model;
    cli_json_head(output, "sensitivities/1", gbs_model_digest(model));
    gbsi_output_text(output, ",\n  \"variable\": ");
    gbsi_output_json_string(output, cli_variable_text(model, a->s.variable, "", text));
    gbsi_output_text(output, ",\n  \"state\": ");
    gbsi_output_json_string(output, cli_state_text(model, a->s.variable, a->s.state, text));
    gbsi_output_text(output, ",\n  \"probability\": ");
    gbsi_output_json_double(output, a->s.p);
    gbsi_output_text(output, ",\n  \"mcse\": ");
    gbsi_output_json_double(output, a->s.p_mcse);
    gbsi_output_text(output, a->s.exact ? ",\n  \"exact\": true" : ",\n  \"exact\": false");
    gbsi_output_text(output, ",\n  \"parameters\": [\n");
}

/* @return the size of the longest text that scope_text() writes, with its final NUL. */
static size_t longest_scope(const gbs_model *model)
{
    size_t longest = 1;
    for (size_t f = 0; f < gbs_model_n_factors(model); f++) {
        uint32_t n = 0;
        const uint32_t *scope = NULL;
        (void)gbs_model_factor(model, f, &n, &scope);
        const size_t sum = cli_states_bytes(model, n, scope);
        longest = sum > longest ? sum : longest;
    }
    return longest;
}

static int write_rows(gbs_output *output, const cli_sensitivities *a, int json)
{
    cli_text text = {.size = longest_scope(a->job.model)};
    text.at = malloc(text.size);
    CLI_PASS(CLI_HAVE(text.at));
    if (json) {
        json_head(output, a);
    } else {
        gbsi_output_text(output, "parameter,factor,variable,state,given,value,derivative,mcse,"
                                 "p_at_0.9,p_at_1.1,log_evidence_derivative");
        gbsi_output_text(output, a->job.arguments->reach > 0.0 ? ",value_to_reach\n" : "\n");
    }
    for (size_t k = 0; k < a->n; k++) {
        if (json) {
            gbsi_output_text(output, k > 0 ? ",\n" : "");
            json_row(output, a, a->shown[k], &text);
        } else {
            csv_row(output, a, a->shown[k], &text);
        }
    }
    gbsi_output_text(output, !json ? "" : a->n > 0 ? "\n  ]\n}\n" : "  ]\n}\n");
    free(text.at);
    return CLI_DONE;
}

static int write_answer(const cli_sensitivities *a, const char *format)
{
    const char *path = a->job.output != NULL ? a->job.output : "-";
    gbs_error err = {GBS_OK, ""};
    gbs_output *output = NULL;
    gbs_status done = gbs_output_open(path, &output, &err);
    int status = CLI_DONE;
    if (done >= 0) {
        if (strcmp(format, "table") == 0) {
            cli_sensitivity_table(output, a);
        } else {
            status = write_rows(output, a, strcmp(format, "json") == 0);
        }
        if (status == CLI_DONE) {
            done = gbs_output_commit(output, &err);
        } else {
            gbs_output_discard(output);
        }
    }
    return done < 0 ? cli_fail_output(path, done, &err) : status;
}

/* ---- what is asked --------------------------------------------------------------------------- */

/* Reads "NAME=STATE". Name and state may contain '='; the text is split at the first '=' before
 * which there is the name of a variable. */
static int find_query(const gbs_model *model, const char *query, uint32_t *variable,
                      uint32_t *state)
{
    gbs_error err = {GBS_OK, ""};
    gbs_status found = GBS_ERR_ARGUMENT;
    const size_t n = strlen(query);
    char *name = strdup(query);
    CLI_PASS(CLI_HAVE(name));
    size_t at = 0;
    for (size_t k = 1; k < n && found < 0; k++) { /* "=3=x": a variable called 3 */
        if (query[k] == '=') {
            memcpy(name, query, n + 1);
            name[k] = '\0';
            found = gbs_model_find_variable(model, name, variable, at == 0 ? &err : NULL);
            at = k + 1;
        }
    }
    free(name);
    if (found < 0 && cli_probability_typed("--query", query, 1) != CLI_DONE) {
        return CLI_USAGE;
    }
    if (at == 0) {
        return cli_error(CLI_USAGE,
                         "--query %s: expected a variable and one of its states, as in "
                         "--query smoke=yes",
                         query);
    }
    if (found >= 0) {
        found = gbs_model_find_state(model, *variable, query + at, state, &err);
    }
    return found < 0 ? cli_error(CLI_USAGE, "--query: %s", err.message) : CLI_DONE;
}

/* Writes the title, such as "P(cold = yes | fever=yes)" */
static void make_title(cli_sensitivities *a)
{
    const cli_arguments *arguments = a->job.arguments;
    cli_text text = {.at = a->title, .size = sizeof a->title};
    char number[32];
    cli_text_add(&text, "P(");
    cli_text_add(&text, cli_variable_text(a->job.model, a->s.variable, "", number));
    cli_text_add(&text, "=");
    cli_text_add(&text, cli_state_text(a->job.model, a->s.variable, a->s.state, number));
    for (int i = 0; i < arguments->n_evidence; i++) {
        cli_text_add(&text, i == 0 ? " | " : ", ");
        cli_text_add(&text, arguments->evidence[i]);
    }
    if (arguments->file_evidence) {
        cli_text_add(&text, arguments->n_evidence > 0 ? ", observations of the file"
                                                      : " | observations of the file");
    }
    const char *likelihoods[] = {arguments->likelihood, arguments->virtual_evidence};
    for (int i = 0; i < 2; i++) {
        if (likelihoods[i] != NULL) {
            cli_text_add(&text,
                         strstr(a->title, " | ") == NULL ? " | likelihoods " : ", likelihoods ");
            cli_text_add(&text, likelihoods[i]);
        }
    }
    cli_text_add(&text, ")");
}

static int on_progress(void *context, const gbs_progress *now)
{
    if (now->updates > 0) {
        cli_bar_update(context, now);
    } else {
        cli_bar_share(context, now->elapsed_s, 0.0, "junction tree");
    }
    return cli_signals_caught();
}

static int solve(cli_sensitivities *a, uint32_t variable, uint32_t state, int *stopped)
{
    cli_bar bar;
    gbs_error err = {GBS_OK, ""};
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &bar, .progress = on_progress};
    a->s.size = sizeof a->s;
    cli_signals_catch();
    cli_bar_init(&bar, a->job.arguments, &a->job.options);
    const gbs_status done = gbs_sensitivity(a->job.model, a->job.evidence, variable, state,
                                            &a->job.options, &callbacks, &a->s, &err);
    cli_bar_finish(&bar, NULL);
    *stopped = done == GBS_STOPPED;
    if (done < 0 && cli_signals_caught()) {
        return cli_error(CLI_STOPPED, "%s", err.message);
    }
    return done < 0 ? cli_fail(done, &err) : CLI_DONE;
}

static void tell(const cli_sensitivities *a, int is_table, int stopped)
{
    const cli_arguments *arguments = a->job.arguments;
    size_t n_undefined = 0;
    for (size_t i = 0; i < a->s.n_parameters; i++) {
        n_undefined += isnan(a->s.derivative[i]) ? 1 : 0;
    }
    if (!is_table) {
        char error[32] = "";
        if (!a->s.exact && isfinite(a->s.p_mcse)) {
            (void)snprintf(error, sizeof error, " +- %.2g", a->s.p_mcse);
        }
        cli_note(arguments, "%s = %.6g%s", a->title, a->s.p, error);
    }
    if (n_undefined > 0) {
        cli_note(arguments, "%zu of %zu parameter%s %s no derivative: %s", n_undefined,
                 a->s.n_parameters, gbsi_plural(a->s.n_parameters),
                 gbsi_plural_of(n_undefined, "has", "have"),
                 !gbs_model_is_directed(a->job.model) ? "hard zeros and infinite weights"
                 : a->s.exact
                     ? "probabilities of 1 in a column that is not one of two"
                     : "probabilities of 0 and 1 that draws say too little of; --method exact may");
    }
    if (!a->s.exact && arguments->run.method == GBS_METHOD_AUTO) {
        cli_note(arguments, "sampled, because a junction tree would exceed time or memory; "
                            "--method exact says how large it is");
    }
    cli_note_verdict(arguments, a->s.converged ? CLI_GREEN : CLI_YELLOW, a->s.verdict);
    if (stopped) {
        cli_note(arguments, "the run stopped before its target: these are the results so far");
    }
}

static int run_sensitivity(cli_arguments *arguments)
{
    cli_sensitivities a;
    const char *format = NULL;
    uint32_t variable = 0;
    uint32_t state = 0;
    int stopped = 0;
    memset(&a, 0, sizeof a);
    if (arguments->query == NULL) {
        return cli_error(CLI_USAGE, "--query is missing; see 'gibbsite help sensitivity'");
    }
    int status = cli_output_format(arguments, "csv|table|json",
                                   cli_is_terminal(STDOUT_FILENO) ? "table" : "csv", &format);
    if (status == CLI_DONE) {
        status = cli_settle(arguments, GBS_METHOD_AUTO);
    }
    if (status == CLI_DONE) {
        status = cli_check_plot(arguments);
    }
    if (status == CLI_DONE) {
        status = cli_load(&a.job, arguments, arguments->operand[0]);
    }
    if (status == CLI_DONE) {
        status = find_query(a.job.model, arguments->query, &variable, &state);
    }
    if (status == CLI_DONE) {
        status = solve(&a, variable, state, &stopped);
    }
    const int is_table = format != NULL && strcmp(format, "table") == 0;
    if (status == CLI_DONE) {
        make_title(&a);
        status = choose(&a, arguments->top == 0 && is_table ? TOP : arguments->top);
    }
    if (status == CLI_DONE) {
        status = write_answer(&a, format);
    }
    if (status == CLI_DONE && arguments->plot != NULL) {
        status = cli_sensitivity_chart(&a, arguments->top == 0 ? TOP : (size_t)arguments->top);
    }
    if (status == CLI_DONE) {
        tell(&a, is_table, stopped);
    }
    const int converged = a.s.converged;
    free(a.shown);
    gbs_sensitivities_free(&a.s);
    cli_job_free(&a.job);
    return cli_judge(arguments, converged, status == CLI_DONE && stopped ? CLI_STOPPED : status);
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/sensitivity.def"
};

const cli_verb cli_verb_sensitivity = {
    .name = "sensitivity",
    CLI_TAKES(options),
    .n_operands = 1,
    .operands = "MODEL",
    .what = "how a probability moves with every parameter",
    .notes = "For every entry of a conditional table: the derivative of P(X=x | evidence) by\n"
             "the entry t, the rest of its column scaled in proportion, and what P becomes if\n"
             "t moves by 10 per cent. For other tables, weights and likelihoods: by their\n"
             "logarithm or weight. On a terminal the largest derivatives first.\n",
    .example = "gibbsite sensitivity examples/clinic.bif --query cold=yes -e fever=yes\n"
               "gibbsite sensitivity examples/clinic.bif --query influenza=yes -o all.csv\n",
    .run = run_sensitivity,
};
