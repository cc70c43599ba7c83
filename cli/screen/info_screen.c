/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite info on one screen: the kind of model, the methods that would answer questions about it,
 * and their cost. */
#include <inttypes.h>
#include <stdio.h>

#include "gibbsite/info.h"
#include "src/core/base/plural.h"
#include "src/files/models/format_names.h"
#include "verbs/info.h"

enum {
    TITLE = 11, /* number of columns of a title */
    TEXT = 256,
};

/* Writes "1 factor" or "2 factors", with an irregular plural if needed. @return text. */
static const char *count(uint64_t n, const char *one, const char *more, char text[64])
{
    (void)snprintf(text, 64, "%" PRIu64 " %s", n, gbsi_plural_of(n, one, more));
    return text;
}

/* Writes a rounded duration in words. @return text. */
static const char *duration(double seconds, char text[64])
{
    static const struct {
        double seconds;
        const char *unit;
    } units[] = {{86400.0, "days"}, {3600.0, "hours"}, {60.0, "minutes"}, {1.0, "seconds"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
        if (seconds >= 2.0 * units[i].seconds) {
            (void)snprintf(text, 64, "about %.3g %s", seconds / units[i].seconds, units[i].unit);
            return text;
        }
    }
    if (seconds < 1e-3) {
        (void)snprintf(text, 64, "less than a millisecond");
    } else {
        (void)snprintf(text, 64, "about %.*f milliseconds", seconds < 0.01 ? 1 : 0, 1e3 * seconds);
    }
    return text;
}

/* ---- the model ------------------------------------------------------------------------------- */

static void put_variables(gbs_output *output, const gbs_info *info)
{
    char n[64];
    count(info->n_variables, "variable", "variables", n);
    if (info->n_variables == 0) {
        cli_put_line(output, TITLE, "variables", "none");
    } else if (info->min_arity == info->max_arity) {
        cli_put_line(output, TITLE, "variables", "%s of %" PRIu32 " state%s", n, info->min_arity,
                     gbsi_plural(info->min_arity));
    } else {
        cli_put_line(output, TITLE, "variables",
                     "%s of %" PRIu32 " to %" PRIu32 " states, %.3g on average", n, info->min_arity,
                     info->max_arity, info->mean_arity);
    }
}

static void put_evidence(gbs_output *output, const gbs_info *info)
{
    char n[64];
    char free_ones[64];
    count(info->n_free, "free variable", "free variables", free_ones);
    if (info->n_observed + info->n_implied == 0) {
        cli_put_line(output, TITLE, "evidence", "none: %s", free_ones);
    } else if (info->n_implied == 0) {
        cli_put_line(output, TITLE, "evidence", "%s observed: %s left",
                     count(info->n_observed, "variable", "variables", n), free_ones);
    } else {
        cli_put_line(output, TITLE, "evidence",
                     "%s observed, %" PRIu32 " fixed by that and by hard zeros: %s left",
                     count(info->n_observed, "variable", "variables", n), info->n_implied,
                     free_ones);
    }
}

static void put_factors(gbs_output *output, const gbs_info *info)
{
    char n[64];
    char text[TEXT] = "";
    size_t used = 0;
    size_t largest = 0;
    for (size_t k = 0; k < GBS_N_FACTOR_KINDS; ++k) {
        if (info->factors_of_kind[k] > 0 && used < sizeof text) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu %s",
                                     used == 0 ? "" : ", ", info->factors_of_kind[k],
                                     gbs_factor_kind_name((gbs_factor_kind)k));
        }
    }
    for (size_t i = 0; i < GBS_INFO_ORDERS; ++i) {
        largest = info->factors_of_order[i] > 0 ? i : largest;
    }
    count(info->n_factors, "factor", "factors", n);
    if (info->n_factors == 0) {
        cli_put_line(output, TITLE, "factors", "none");
        return;
    }
    cli_put_line(output, TITLE, "factors", "%s (%s) of at most %zu variable%s%s", n, text, largest,
                 gbsi_plural(largest), largest + 1 == GBS_INFO_ORDERS ? " or more" : "");
    if (info->n_table_entries > 0) {
        count(info->n_table_entries, "table entry", "table entries", n);
        if (info->zero_share > 0.0) {
            cli_put_line(output, TITLE, "", "%s, %.3g %% of them hard zeros", n,
                         100.0 * info->zero_share);
        } else {
            cli_put_line(output, TITLE, "", "%s, none of them zero", n);
        }
    }
}

static void put_components(gbs_output *output, const gbs_info *info)
{
    char n[64];
    char size[64];
    count(info->largest_component, "variable", "variables", size);
    if (info->n_components > 0) {
        cli_put_line(output, TITLE, "structure", "%s%s of %s",
                     count(info->n_components, "component", "components", n),
                     info->n_components > 1 ? ", the largest" : "", size);
    }
    if (info->n_barren > 0) {
        cli_put_line(output, TITLE, "barren",
                     "%s that no evidence depends on: left out of questions about others",
                     count(info->n_barren, "variable", "variables", n));
    }
}

/* ---- answers --------------------------------------------------------------------------------- */

static void put_exact(gbs_output *output, const gbs_info *info)
{
    char needs[16] = "";
    char limit[16];
    char time[64];
    cli_scale_bytes(8 * info->entry_limit, limit);
    if (info->n_free == 0) {
        cli_put_line(output, TITLE, "exact", "nothing is left to sum over");
    } else if (!info->order_found) {
        cli_put_line(output, TITLE, "exact",
                     info->search == GBS_SEARCH_WORK
                         ? "not known: the search for a junction tree gave up at width %" PRIu32
                         : "no: a junction tree has a width above %" PRIu32,
                     info->width > 0 ? info->width - 1 : 0);
    } else if (info->exact_fits) {
        cli_scale_bytes(
            info->exact_bytes != UINT64_MAX ? info->exact_bytes : info->exact_least_bytes, needs);
        cli_put_line(output, TITLE, "exact", "possible: %s of one thread, %s (width %" PRIu32 ")",
                     duration(info->exact_s, time), needs, info->width);
    } else {
        cli_scale_bytes(info->exact_least_bytes, needs);
        cli_put_line(output, TITLE, "exact",
                     "no: junction trees of width %" PRIu32 " %s%s, the limit is %s", info->width,
                     info->exact_least_bytes != UINT64_MAX ? "need " : "do not fit",
                     info->exact_least_bytes != UINT64_MAX ? needs : "", limit);
    }
}

/* Writes the exact methods that answer the model, the number of nonzero entries, and the number of
 * cases of a cutset. */
static void put_forms(gbs_output *output, const gbs_info *info)
{
    char n[64];
    char forms[80];
    char nonzero[64] = "";
    char cases[96] = "";
    cli_exact_forms(info->auto_forms, forms);
    if (info->auto_nonzero > 0.0) {
        (void)snprintf(nonzero, sizeof nonzero, "; %.4g nonzero entries", info->auto_nonzero);
    }
    if (info->auto_cases > 0) {
        (void)snprintf(cases, sizeof cases, "; %s, given a few variables",
                       count(info->auto_cases, "case", "cases", n));
    }
    cli_put_line(output, TITLE, "", "by %s%s%s", forms, nonzero, cases);
}

static void put_auto(gbs_output *output, const cli_job *job, const gbs_info *info)
{
    char n[64];
    char time[64];
    char run[16];
    char chains[64];
    count(job->options.chains, "chain", "chains", chains);
    cli_scale_bytes(info->run_bytes, run);
    if (info->n_free == 0) {
        cli_put_line(output, TITLE, "by default", "every answer follows from the evidence");
    } else if (info->n_auto == info->n_components) {
        cli_put_line(output, TITLE, "by default", "exact, %s of one thread",
                     duration(info->auto_s, time));
    } else if (info->n_auto > 0) {
        cli_put_line(output, TITLE, "by default", "%s exact, the rest sampled by %s",
                     count(info->n_auto, "component", "components", n), chains);
    } else {
        cli_put_line(output, TITLE, "by default", "sampled by %s of Gibbs sampling", chains);
    }
    if ((info->auto_forms & ~GBS_FORM_TABLES) != 0) {
        put_forms(output, info);
    }
    cli_put_line(output, TITLE, "memory", "%s for a run of %s at most, model included", run,
                 chains);
}

/* ---- hints ----------------------------------------------------------------------------------- */

static void put_hints(gbs_output *output, const gbs_info *info)
{
    const int sampled = info->n_free > 0 && info->n_auto < info->n_components;
    if (info->has_zeros) {
        cli_put_line(output, TITLE, "hard zeros",
                     sampled ? "remain: the verdict says whether chains can reach "
                               "every state"
                             : "remain; exact answers do not mind");
    }
    if (info->n_free > 0 && info->max_influence < 1.0) {
        cli_put_line(output, TITLE, "couplings",
                     "weak: sums of influences below 1 (%.3g), chains mix fast",
                     info->max_influence);
    } else if (info->n_free > 0) {
        cli_put_line(output, TITLE, "couplings",
                     "may be strong: sums of influences up to %.3g, chains may mix slowly",
                     info->max_influence);
    }
}

void cli_info_screen(gbs_output *output, const cli_job *job, const gbs_info *info,
                     uint64_t loading_bytes)
{
    const char *path = job->arguments->operand[0];
    const char *convention = gbsi_model_convention_of(path, &job->read);
    char loading[16];
    cli_scale_bytes(loading_bytes, loading);
    const char *kind =
        gbs_model_is_directed(job->model) ? ": a Bayesian network" : ": a Markov random field";
    gbsi_output_text(output, path);
    cli_put_hanging(output, kind, cli_columns_of(path), 2, cli_line_width());
    put_variables(output, info);
    put_factors(output, info);
    if (convention != NULL) {
        cli_put_line(output, TITLE, "sign", "of couplings as in %s", convention);
    }
    put_evidence(output, info);
    put_components(output, info);
    put_exact(output, info);
    put_auto(output, job, info);
    cli_put_line(output, TITLE, "", "%s were held while the model was read", loading);
    put_hints(output, info);
    cli_put_line(output, TITLE, "more", "--variables lists names and states, -v all figures");
}
