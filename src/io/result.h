/* SPDX-License-Identifier: Apache-2.0 */
/* What UAI result files share: a task word, and solutions of which the last one counts. */
#ifndef GBSI_IO_RESULT_H
#define GBSI_IO_RESULT_H

#include "io/text.h"

/* Behind the task word: moves to the solution after the last -BEGIN-, if there is any, and over
 * the task word where it is repeated there. */
void gbsi_result_last_solution(gbsi_text *text, gbsi_token task);

#endif
