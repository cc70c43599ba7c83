/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/learning.h"

#include "base/machine.h"
#include "base/sized.h"
#include "base/status.h"
#include "options/questions.h"

#define TOLERANCE 1e-6 /* tolerance if the option is 0; the command line uses a larger default */

gbs_status gbsi_learn_options_settle(const gbs_learn_options *given, gbs_learn_options *o,
                                     gbs_error *err)
{
    GBSI_PASS(gbsi_question_settle("learn weights", given, o, err));
    GBSI_IN_STRUCT(o->checkpoints, gbs_checkpoint_files);
    if (o->held_out != NULL && o->point == NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_learn_options: found held_out without point, expected both");
    }
    if (o->checkpoints != NULL && o->objective != GBS_LEARN_SAMPLED) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_learn_options: found checkpoints, expected none but with the sampled "
                         "likelihood");
    }
    if (given == NULL || given->tolerance == 0.0) {
        o->tolerance = TOLERANCE;
    }
    o->memory_limit = o->memory_limit > 0 ? o->memory_limit : gbsi_default_memory_limit();
    return GBS_OK;
}
