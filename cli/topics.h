/* SPDX-License-Identifier: Apache-2.0 */
/* The options by need, for the help, the manual pages and completion. */
#ifndef GIBBSITE_CLI_TOPICS_H
#define GIBBSITE_CLI_TOPICS_H

#include "arguments.h"

/* The first three are the first screen of the help. */
typedef enum cli_topic {
    CLI_TOPIC_QUESTION,
    CLI_TOPIC_ACCURACY,
    CLI_TOPIC_RESULT,
    CLI_TOPIC_SCAN,
    CLI_TOPIC_DRAW,
    CLI_TOPIC_INPUT,
    CLI_N_TOPICS,
} cli_topic;

#define CLI_N_FIRST_TOPICS CLI_TOPIC_SCAN

/* The word after `help VERB` that shows a topic; NULL: it is on the first screen. */
const char *cli_topic_word(cli_topic topic);

/* The line above its options. */
const char *cli_topic_title(cli_topic topic, unsigned verb);

/* The next option of a verb that a topic holds. @param at 0 at first, moved on.
 * @return NULL after the last one. */
const cli_option *cli_topic_next(cli_topic topic, unsigned verb, size_t *at);

/* An option in the few words of the first screen. */
typedef struct cli_brief {
    const char *option, *unit;
    const char *text; /* at most 51 characters */
    unsigned verbs;   /* 0: all that have no words of their own */
} cli_brief;

/* @return NULL where the help of the option table is short enough. */
const cli_brief *cli_option_brief(const cli_option *option, unsigned verb);

#endif
