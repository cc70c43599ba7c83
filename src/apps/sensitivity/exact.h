/* SPDX-License-Identifier: Apache-2.0 */
/* Sensitivities by a junction tree. */
#ifndef GBSI_SENSITIVITY_EXACT_H
#define GBSI_SENSITIVITY_EXACT_H

#include "gibbsite/exact.h"
#include "sensitivity/parameters.h"

/* Fills in p, the derivatives and log_p of an answer that gbsi_parameters_list() has begun.
 * @param first of gbsi_parameters_list().
 * @return GBS_ERR_LIMIT if no tree fits the options, or weights are too far apart for doubles;
 *         GBS_ERR_STOPPED if the watch has stopped it. */
gbs_status gbsi_sensitivity_exact(const gbs_model *model, const gbs_evidence *evidence,
                                  const gbs_exact_options *options, gbsi_watch *watch,
                                  const size_t *first, gbs_sensitivities *answer, gbs_error *err);

#endif
