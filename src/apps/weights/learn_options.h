/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GBSI_WEIGHTS_LEARN_OPTIONS_H
#define GBSI_WEIGHTS_LEARN_OPTIONS_H

#include "gibbsite/learn.h"

/* Checks the options of gbs_learn_weights(), and puts defaults for those that are 0.
 * @param given NULL: the defaults.
 * @param taken out. */
gbs_status gbsi_learn_options_settle(const gbs_learn_options *given, gbs_learn_options *o,
                                     gbs_error *err);

#endif
