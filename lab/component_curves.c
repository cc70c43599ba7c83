/* SPDX-License-Identifier: Apache-2.0 */
/* Runs taken apart, as the experiments keep them. */
#include "lab/component_curves.h"

#include <math.h>

#include "simd/math.h"

static int on_progress(void *context, const gbs_progress *progress)
{
    return gbsi_lab_tell(context, (double)progress->updates);
}

/* Means and standard errors over the chains. */
static void average(const gbs_decomposition *d, gbsi_parts *parts)
{
    parts->n = d->n_checkpoints;
    for (size_t k = 0; k < d->n_checkpoints; k++) {
        parts->sweeps[k] = (double)d->sweeps[k];
        for (size_t c = 0; c < GBS_N_COMPONENTS; c++) {
            const double *value = d->value + (k * GBS_N_COMPONENTS + c) * d->n_chains;
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

gbs_status gbsi_lab_parts(gbsi_lab *lab, const gbs_model *model, const gbsi_contender *contender,
                          uint64_t chains, uint64_t sweeps, gbsi_parts *parts, gbs_error *err)
{
    gbs_decomposition made = {0};
    gbs_run_options options = gbs_run_options_default();
    const gbs_run_callbacks callbacks = {.context = lab, .progress = on_progress};
    const uint32_t n = gbs_model_n_variables(model);
    options.chains = chains;
    options.sweeps = sweeps;
    options.seed = lab->options->seed;
    options.threads = lab->options->threads;
    gbsi_contender_options(contender, n, NULL, &options);
    lab->what = contender->name;
    const gbs_status status = gbs_decompose(model, NULL, &options, n - 1, &callbacks, &made, err);
    if (status == GBS_OK) {
        average(&made, parts);
        lab->done += (double)(chains * sweeps * n);
    }
    gbs_decomposition_free(&made);
    return status;
}

void gbsi_parts_rows(gbs_output *table, const char *model, const char *draw,
                     const gbsi_parts *parts)
{
    for (size_t k = 0; k < parts->n; k++) {
        for (size_t c = 0; c < GBS_N_COMPONENTS; c++) {
            gbs_output_csv_field(table, model);
            gbs_output_text(table, ",");
            gbs_output_csv_field(table, draw);
            gbsi_table_uint(table, (uint64_t)parts->sweeps[k]);
            gbs_output_text(table, ",");
            gbs_output_text(table, gbs_component_name((gbs_component)c));
            gbsi_table_double(table, parts->mean[c][k]);
            gbsi_table_double(table, parts->error[c][k]);
            gbs_output_text(table, "\n");
        }
    }
}

double gbsi_parts_slope(const gbsi_parts *parts, gbs_component component)
{
    return gbsi_log_slope(parts->sweeps, parts->mean[component], parts->n, 3);
}

bool gbsi_parts_tends(const gbsi_parts *parts, gbs_component component, double limit)
{
    const double ratio = parts->mean[component][parts->n - 1] / limit;
    return ratio > 0.4 && (ratio < 2.0 || gbsi_parts_slope(parts, component) < -0.2);
}

gbsi_line gbsi_parts_line(const gbsi_parts *parts, gbs_component component, const char *label,
                          gbsi_color color, gbsi_dash dash)
{
    return (gbsi_line){.label = label,
                       .color = color,
                       .dash = dash,
                       .n = parts->n,
                       .x = parts->sweeps,
                       .y = parts->mean[component]};
}

gbsi_color gbsi_component_color(gbs_component component)
{
    static const gbsi_color color[GBS_N_COMPONENTS] = {
        [GBS_COMPONENT_COR] = GBSI_VERMILLION, [GBS_COMPONENT_HERDING] = GBSI_GREEN,
        [GBS_COMPONENT_APPROX] = GBSI_PURPLE,  [GBS_COMPONENT_Z] = GBSI_BLUE,
        [GBS_COMPONENT_BIN] = GBSI_ORANGE,     [GBS_COMPONENT_ALL] = GBSI_INK};
    return color[component];
}

const char *gbsi_component_label(gbs_component component)
{
    static const char *const label[GBS_N_COMPONENTS] = {
        [GBS_COMPONENT_COR] = "D cor",       [GBS_COMPONENT_HERDING] = "D herding",
        [GBS_COMPONENT_APPROX] = "D approx", [GBS_COMPONENT_Z] = "D z",
        [GBS_COMPONENT_BIN] = "D bin",       [GBS_COMPONENT_ALL] = "D all"};
    return label[component];
}
