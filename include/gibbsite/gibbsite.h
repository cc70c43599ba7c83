/* SPDX-License-Identifier: Apache-2.0 */
/** gibbsite: sampling discrete graphical models. Includes the headers that most programs need:
 * models and evidence, questions, runs, exact answers, files. Each further header must be included
 * by its name; include/gibbsite/README.md in the sources lists the contents of each header. */
#ifndef GIBBSITE_H
#define GIBBSITE_H

#include "gibbsite/exact.h"
#include "gibbsite/io.h"
#include "gibbsite/model.h"
#include "gibbsite/query.h"
#include "gibbsite/run.h"
#include "gibbsite/status.h"

#endif
