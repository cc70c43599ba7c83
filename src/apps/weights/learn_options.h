/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GBSI_WEIGHTS_LEARN_OPTIONS_H
#define GBSI_WEIGHTS_LEARN_OPTIONS_H

#include "gibbsite/learn.h"

/* Checks the options of gbs_learn_weights(), and puts defaults where they are 0. */
gbs_status gbsi_learn_options_settle(gbs_learn_options *options, gbs_error *err);

#endif
