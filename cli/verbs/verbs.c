/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs of verbs.def as an array. */
#include "cli/cli.h"

#define CLI_VERB(id) extern const cli_verb cli_verb_##id;
#include "verbs/verbs.def"
#undef CLI_VERB

const cli_verb *const cli_verbs[] = {
#define CLI_VERB(id) &cli_verb_##id,
#include "verbs/verbs.def"
#undef CLI_VERB
};

const size_t cli_n_verbs = sizeof cli_verbs / sizeof cli_verbs[0];
