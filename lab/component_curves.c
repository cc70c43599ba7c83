/* SPDX-License-Identifier: Apache-2.0 */
/* Error components of runs, in the form that experiments store. */
#include "lab/component_curves.h"

#include <math.h>
#include <string.h>

#include "simd/math.h"

static int on_progress(void *context, const gbs_progress *progress)
{
    return lab_tell(context, (double)progress->updates);
}

/* Computes means and standard errors over the chains. */
static void average(const lab_decomposition *d, lab_component_curves *parts)
{
    parts->n = d->n_checkpoints;
    memcpy(parts->pooled, d->pooled, sizeof parts->pooled);
    for (size_t k = 0; k < d->n_checkpoints; k++) {
        parts->sweeps[k] = (double)d->sweeps[k];
        for (size_t c = 0; c < LAB_N_COMPONENTS; c++) {
            const double *value = d->value + (k * LAB_N_COMPONENTS + c) * d->n_chains;
            double sum = 0.0;
            double squares = 0.0;
            for (uint32_t i = 0; i < d->n_chains; i++) {
                sum += value[i];
            }
            const double mean = sum / d->n_chains;
            for (uint32_t i = 0; i < d->n_chains; i++) {
                squares += (value[i] - mean) * (value[i] - mean);
            }
            parts->mean[c][k] = mean;
            parts->error[c][k] = gbsi_sqrt(squares / (d->n_chains - 1.0) / d->n_chains);
        }
    }
}

gbs_status lab_component_curves_run(laboratory *lab, const gbs_model *model,
                                    const lab_contender *contender, uint64_t chains,
                                    uint64_t sweeps, lab_component_curves *parts, gbs_error *err)
{
    lab_decomposition made = {0};
    gbs_run_options options = gbs_run_options_default();
    const uint32_t n = gbs_model_n_variables(model);
    const gbs_run_callbacks callbacks = {.context = lab, .progress = on_progress};
    options.chains = chains;
    options.sweeps = sweeps;
    options.seed = lab->options->seed;
    options.threads = lab->options->threads;
    lab_contender_options(contender, n, NULL, &options);
    lab_begin(lab, contender->name, (double)(chains * sweeps * n));
    const gbs_status status = lab_decompose(model, NULL, &options, n - 1, &callbacks, &made, err);
    if (status == GBS_OK) {
        average(&made, parts);
        lab->done += lab->part;
    }
    lab_decomposition_free(&made);
    return status;
}

void lab_component_rows(lab_table *table, const char *model, const char *draw,
                        const lab_component_curves *parts)
{
    for (size_t k = 0; k < parts->n; k++) {
        for (size_t c = 0; c < LAB_N_COMPONENTS; c++) {
            lab_table_text(table, model);
            lab_table_text(table, draw);
            lab_table_number(table, parts->sweeps[k]);
            LAB_ROW(table, lab_component_name((lab_component)c), NULL, parts->mean[c][k],
                    parts->error[c][k]);
        }
    }
}

double lab_component_limit(const lab_component_curves *parts, const lab_component_curves *random,
                           lab_component component)
{
    const double own = parts->pooled[component];
    const double chance = random->pooled[component];
    return own > chance ? gbsi_sqrt(own * own - chance * chance) : 0.0;
}

gbsi_line lab_component_line(const lab_component_curves *parts, lab_component component,
                             const char *label, gbsi_color color)
{
    return (gbsi_line){.label = label,
                       .color = color,
                       .n = parts->n,
                       .x = parts->sweeps,
                       .y = parts->mean[component]};
}

gbsi_color lab_component_color(lab_component component)
{
    static const gbsi_color color[LAB_N_COMPONENTS] = {
        [LAB_COR] = GBSI_VERMILLION, [LAB_HERDING] = GBSI_GREEN, [LAB_APPROX] = GBSI_PURPLE,
        [LAB_Z] = GBSI_BLUE,         [LAB_BIN] = GBSI_ORANGE,    [LAB_ALL] = GBSI_INK};
    return color[component];
}

const char *lab_component_label(lab_component component)
{
    static const char *const label[LAB_N_COMPONENTS] = {
        [LAB_COR] = "D cor", [LAB_HERDING] = "D herding", [LAB_APPROX] = "D approx",
        [LAB_Z] = "D z",     [LAB_BIN] = "D bin",         [LAB_ALL] = "D all"};
    return label[component];
}
