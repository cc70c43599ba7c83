/* SPDX-License-Identifier: Apache-2.0 */
/* Conditioning that leaves the model as it is: private to src/model. */
#ifndef GBSI_MODEL_CONDITION_WHOLE_H
#define GBSI_MODEL_CONDITION_WHOLE_H

#include "model/condition.h"

/* Whether neither evidence nor hard zeros take anything from the model. O(factors + entries). */
bool gbsi_condition_is_whole(const gbs_model *model, const gbs_evidence *evidence);
/* Fill *conditioned, which is zero but for its model, for such a model. On failure what was taken
 * is freed with it. */
gbs_status gbsi_condition_whole(const gbs_model *model, gbsi_conditioned *conditioned,
                                gbs_error *err);

#endif
