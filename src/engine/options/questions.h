/* SPDX-License-Identifier: Apache-2.0 */
/* The implementation of gibbsite/question.h. */
#ifndef GBSI_OPTIONS_QUESTIONS_H
#define GBSI_OPTIONS_QUESTIONS_H

#include "gibbsite/question.h"

/**
 * Checks a caller's options of a question against the rows of the question. A value of 0 is
 * replaced by the default unless 0 is legal, and values out of range are refused. Fields that are
 * not options are copied. An option that differs from its default is refused if the other options
 * do not meet the conditions in its row.
 *
 * @param name  name of the question, as in questions.def.
 * @param given the caller's struct; NULL stands for a struct of zeros. @param taken out, of the
 * same type.
 * @return GBS_ERR_ARGUMENT, with a message that names the wrong option. */
gbs_status gbsi_question_settle(const char *name, const void *given, void *taken, gbs_error *err);

#endif
