/* SPDX-License-Identifier: Apache-2.0 */
/* The implementation of gibbsite/question.h. */
#ifndef GBSI_OPTIONS_QUESTIONS_H
#define GBSI_OPTIONS_QUESTIONS_H

#include "gibbsite/question.h"

/**
 * Checks a caller's options of a question by its table: replaces 0 by the default unless 0 is a
 * legal value, and refuses values out of range. Fields that are not options are copied. An option
 * with another value than its default is refused where other options lack what its row needs.
 *
 * @param name  name of the question, as in questions.def.
 * @param given NULL: the defaults of a struct set to zeros. @param taken out, of the same type.
 * @return GBS_ERR_ARGUMENT, with a message that names the one option that is wrong.
 */
gbs_status gbsi_question_settle(const char *name, const void *given, void *taken, gbs_error *err);

#endif
