/* SPDX-License-Identifier: Apache-2.0 */
/* Sensitivities from the draws of a run. */
#ifndef GBSI_SENSITIVITY_SAMPLED_H
#define GBSI_SENSITIVITY_SAMPLED_H

#include "sensitivity/parameters.h"

/* As gbsi_sensitivity_exact(), with standard errors and the verdict of the run.
 * @param options method SAMPLE. @return GBS_STOPPED with an answer; errors of gbs_run_execute(). */
gbs_status gbsi_sensitivity_sampled(const gbs_model *model, const gbs_evidence *evidence,
                                    const gbs_run_options *options,
                                    const gbs_run_callbacks *callbacks, const size_t *first,
                                    gbs_sensitivities *answer, gbs_error *err);

#endif
